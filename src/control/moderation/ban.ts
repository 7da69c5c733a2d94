/** Bans: who and what is kept out of a room, or of all rooms of a tenant. */
import type { Subject } from './moderation-event.ts';

/** Ten years. What shall last longer has no end. */
export const BAN_MS_MAX = 3_650 * 86_400_000;

/** Of one tenant, standing at once: every join is held against each of them. */
export const ADDRESS_BANS_MAX = 1_000;

export interface Ban {
  readonly id: string;
  /** Name and uid of the room; `null`: every room of the tenant. */
  readonly room: string | null;
  readonly roomUid: string | null;
  readonly subject: Subject;
  readonly createdAt: Date;
  /** `null`: never, or with the room. */
  readonly expiresAt: Date | null;
  readonly reason: string;
  /** The participant who set it; `null`: the tenant itself. */
  readonly actor: string | null;
  /** The rank of whoever set it; the tenant itself has 100. */
  readonly rank: number;
}
