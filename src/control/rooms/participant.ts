/**
 * Participants: the users of a room, as far as tokens and usage records tell of them.
 *
 * A user is present from the first token until the last one has lapsed, or until somebody ended it.
 */
import type { PublishRight } from '../../access/rights/publish-rights.ts';
import type { Role, Tier } from '../../money/pricing/role.ts';

export type LeaveReason = 'expired' | 'kicked' | 'banned' | 'ended' | 'watchdog';

/** A participant, as a request names one. */
export interface ActorName {
  readonly username: string;
  readonly thumbprint: string;
}

export interface ParticipantDevice {
  readonly thumbprint: string;
  /** The API key or device credential that asked for its last token. */
  readonly keyId: string;
  readonly expiresAt: Date;
}

export interface Participant {
  readonly room: string;
  readonly roomUid: string;
  readonly username: string;
  readonly role: Role;
  /** Standing, 0 to 99: who acts on this participant has a higher one. */
  readonly rank: number;
  /** What the last mint was to grant; a join lowers nobody who is present. */
  readonly capabilities: readonly string[];
  /** What a moderator has taken of it. */
  readonly muted: readonly PublishRight[];
  readonly publishRevoked: readonly PublishRight[];
  readonly tier: Tier | null;
  readonly enteredAt: Date;
  readonly lastSeenAt: Date | null;
  readonly expiresAt: Date;
  /** `null` of whoever is present. */
  readonly leftAt: Date | null;
  readonly leaveReason: LeaveReason | null;
  readonly devices: readonly ParticipantDevice[];
}

/** Hidden is hidden from the others in the room; neither from oneself nor from the tenant (`undefined`). */
export function isHiddenFrom(
  viewer: { readonly username: string } | undefined,
  { username, capabilities }: Pick<Participant, 'username' | 'capabilities'>,
): boolean {
  return viewer !== undefined && viewer.username !== username && capabilities.includes('room.hidden');
}

type Restrictions = Pick<Participant, 'muted' | 'publishRevoked'>;

/** Capabilities without the rights to publish that a moderator has taken; and those, in the same order. */
export function withhold(
  capabilities: readonly string[],
  { muted, publishRevoked }: Restrictions,
): { readonly granted: readonly string[]; readonly withheld: readonly string[] } {
  const taken = new Set([...muted, ...publishRevoked].map((right) => `publish.${right}`));
  return {
    granted: capabilities.filter((capability) => !taken.has(capability)),
    withheld: capabilities.filter((capability) => taken.has(capability)),
  };
}
