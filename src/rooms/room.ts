/**
 * Rooms: their names, the patterns that name several, and their policy.
 *
 * A room is one incarnation of its name: when it has ended, the name may be used again, and then it
 * is another room with another uid.
 */
export const ROOM_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$';

/** Names in which `*` stands for any characters, or none. */
export const ROOM_PATTERN_PATTERN = '^[A-Za-z0-9*][A-Za-z0-9._*-]{0,127}$';

/** Where a join goes that names no room, with a credential that names none either. */
export const ROOM_DEFAULT = 'lobby';

export const ROOM_STATES = ['LIVE', 'ENDED'] as const;
export type RoomState = (typeof ROOM_STATES)[number];

/** Kept as JSON with each room. A maximum of 0 is none. */
export interface RoomPolicy {
  readonly mode: 'MEETING' | 'BROADCAST';
  readonly e2ee_required: boolean;
  readonly age_verification_required: boolean;
  readonly max_participants: number;
  readonly locked: boolean;
  readonly mute_on_entry: boolean;
}

export const DEFAULT_POLICY: RoomPolicy = {
  mode: 'MEETING',
  e2ee_required: false,
  age_verification_required: false,
  max_participants: 0,
  locked: false,
  mute_on_entry: false,
};

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
