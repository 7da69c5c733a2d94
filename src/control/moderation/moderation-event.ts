/** Records of what moderators did. They are kept and never change. */
import type { PublishRight } from '../../access/rights/publish-rights.ts';
import type { Subject } from '../bans/ban.ts';

export const MODERATION_EVENTS = {
  moderation: 'A moderator acted: a kick, a ban, a mute, and the like.',
} as const;

export const MODERATION_ACTIONS = [
  'kick',
  'ban',
  'unban',
  'force_mute',
  'release_mute',
  'revoke_publish',
  'restore_publish',
  'close_room',
] as const;
export type ModerationAction = (typeof MODERATION_ACTIONS)[number];

/** What people read, after who did it. */
export const MODERATION_WORDS: Readonly<Record<ModerationAction, string>> = {
  kick: 'kicked',
  ban: 'banned',
  unban: 'lifted the ban of',
  force_mute: 'muted',
  release_mute: 'unmuted',
  revoke_publish: 'stopped the publishing of',
  restore_publish: 'allowed the publishing of',
  close_room: 'closed the room',
};

export interface ModerationEvent {
  /** The number of its event. */
  readonly id: bigint;
  readonly action: ModerationAction;
  /** Name and uid of the room; `null`: the whole tenant. */
  readonly room: string | null;
  readonly roomUid: string | null;
  readonly subject: Subject | null;
  readonly tracks: readonly PublishRight[];
  readonly reason: string;
  /** The participant who did it; `null`: the tenant itself, or a watchdog. */
  readonly actor: string | null;
  /** `null`: a watchdog did it, or a person at the console, whom the audit trail names. */
  readonly keyId: string | null;
  /** The member who did it at the console. Pages for members alone show it. */
  readonly memberId: string | null;
  readonly watchdogId: string | null;
  readonly at: Date;
  /** When a ban ends. */
  readonly expiresAt: Date | null;
}
