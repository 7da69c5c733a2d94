/**
 * Rooms: their names, the patterns that name several, and their policy.
 *
 * A room is one incarnation of its name: when it has ended, the name may be used again, and then it
 * is another room with another uid.
 */
import type { Capability } from '../../access/rights/capabilities.ts';

export const ROOM_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$';

/** Names in which `*` stands for any characters, or none. */
export const ROOM_PATTERN_PATTERN = '^[A-Za-z0-9*][A-Za-z0-9._*-]{0,127}$';

/** In characters. */
export const METADATA_LENGTH_MAX = 4096;

export const PARTICIPANTS_MAX = 100_000;

/** Where a join goes that names no room, with a credential that names none either. */
export const ROOM_DEFAULT = 'lobby';

export const ROOM_STATES = ['LIVE', 'ENDED'] as const;
export type RoomState = (typeof ROOM_STATES)[number];

/** Rules of a room, kept as JSON with it. Those up to `region` never change. */
export interface RoomPolicy {
  readonly mode: 'MEETING' | 'BROADCAST';
  readonly e2eeRequired: boolean;
  readonly ageVerificationRequired: boolean;
  readonly region: string;
  /** Users who may be present at once; 0: no limit. */
  readonly maxParticipants: number;
  /** Nobody new comes in. */
  readonly locked: boolean;
  /** What tokens of a role grant that ask for nothing in particular; empty: `ROLE_CAPABILITIES`. */
  readonly hostCapabilities: readonly Capability[];
  readonly audienceCapabilities: readonly Capability[];
  readonly muteOnEntry: boolean;
}

export const DEFAULT_POLICY: RoomPolicy = {
  mode: 'MEETING',
  e2eeRequired: false,
  ageVerificationRequired: false,
  region: '',
  maxParticipants: 0,
  locked: false,
  hostCapabilities: [],
  audienceCapabilities: [],
  muteOnEntry: false,
};

export type EndReason = 'ended' | 'closed' | 'watchdog';

export interface Room {
  readonly name: string;
  readonly uid: string;
  readonly state: RoomState;
  readonly policy: RoomPolicy;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
  readonly endReason: EndReason | null;
  /** Users who are present. */
  readonly participantCount: number;
  readonly metadata: string;
}

/** Nobody counts participants who only decides about the room, while others wait for it. */
export type LockedRoom = Omit<Room, 'participantCount'>;

/**
 * Whether a room of this name is among those that a pattern names.
 *
 * Each part between two stars is looked for once, from left to right, so that no pattern takes
 * longer than its length allows.
 */
export function matchesRoom(pattern: string, name: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return name === pattern;
  if (!name.startsWith(head)) return false;

  let at = head.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - tail.length >= at && name.endsWith(tail);
}

/** `null` stands for every room. */
export function mayJoinRoom(patterns: readonly string[] | null, name: string): boolean {
  return patterns === null || patterns.some((pattern) => matchesRoom(pattern, name));
}
