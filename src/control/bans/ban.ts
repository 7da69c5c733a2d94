/** Bans of users, devices and address ranges from a room, or from all rooms of a tenant. */
import type { TenantLimit } from '../../base/tenants/limits.ts';

export const BANS_LIMIT = {
  name: 'bans',
  pending: 1_000,
  active: 10_000,
  unit: 'active bans',
} as const satisfies TenantLimit;

export type SubjectKind = 'user' | 'device' | 'cidr';

/** A username, a thumbprint, or an address range in canonical form. */
export interface Subject {
  readonly kind: SubjectKind;
  readonly value: string;
}

/** Ten years. A longer ban must be permanent. */
export const BAN_MS_MAX = 3_650 * 86_400_000;

export interface Ban {
  readonly id: string;
  /** Name of the room, which may end and be made again; `null`: every room of the tenant. */
  readonly room: string | null;
  /** The room of that name in which it was set. */
  readonly roomUid: string | null;
  readonly subject: Subject;
  readonly createdAt: Date;
  /** `null`: when it is lifted. */
  readonly expiresAt: Date | null;
  readonly reason: string;
  /** The participant who set it; `null`: the tenant itself. */
  readonly actor: string | null;
  /** The rank of the actor; the tenant itself has 100. */
  readonly rank: number;
}
