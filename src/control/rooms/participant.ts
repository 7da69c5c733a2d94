/**
 * Participants: the users of a room, as known from tokens and usage records.
 *
 * A user is present from the first token until the last one expires, or until the user is expelled.
 */
import type { PublishRight } from '../../access/rights/publish-rights.ts';
import type { Role, Tier } from '../../money/pricing/role.ts';

export const LEAVE_REASONS = ['expired', 'kicked', 'banned', 'ended', 'watchdog'] as const;
export type LeaveReason = (typeof LEAVE_REASONS)[number];

/** What people read. */
export const LEAVE_WORDS: Readonly<Record<LeaveReason, string>> = {
  expired: 'token expired',
  kicked: 'kicked',
  banned: 'banned',
  ended: 'room ended',
  watchdog: 'removed by a watchdog',
};
/** What makes a user leave, with all tokens. */
export type ExpelReason = Exclude<LeaveReason, 'expired'>;

/** How a request names the participant who acts. */
export interface ActorName {
  readonly username: string;
  readonly thumbprint: string;
}

export interface ParticipantDevice {
  readonly thumbprint: string;
  /** The API key or device credential that requested its last token. */
  readonly keyId: string;
  /** As the mint of its last token named it; `null`: not at all. Events from before budgets have none. */
  readonly customer?: string | null;
  readonly expiresAt: Date;
}

export interface Participant {
  readonly room: string;
  readonly roomUid: string;
  readonly username: string;
  readonly role: Role;
  /** 0 to 99. Only actors with a higher rank may act on this participant. */
  readonly rank: number;
  /** What the last token was to grant; a join does not lower a user who is present. */
  readonly capabilities: readonly string[];
  /** The publish rights that a moderator has taken away. */
  readonly muted: readonly PublishRight[];
  readonly publishRevoked: readonly PublishRight[];
  readonly tier: Tier | null;
  readonly enteredAt: Date;
  readonly lastSeenAt: Date | null;
  readonly expiresAt: Date;
  /** `null` while present. */
  readonly leftAt: Date | null;
  readonly leaveReason: LeaveReason | null;
  readonly devices: readonly ParticipantDevice[];
}

/** Hidden participants are visible to themselves and to the tenant (`undefined`), but not to others. */
export function isHiddenFrom(
  viewer: { readonly username: string } | undefined,
  { username, capabilities }: Pick<Participant, 'username' | 'capabilities'>,
): boolean {
  return viewer !== undefined && viewer.username !== username && capabilities.includes('room.hidden');
}

type Restrictions = Pick<Participant, 'muted' | 'publishRevoked'>;

/** Splits capabilities into those granted and those that a moderator has taken away, in the same order. */
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
