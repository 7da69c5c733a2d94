/** Room names, and the patterns for them in rights and ceilings. */

export const ROOM_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$';

/** Names in which `*` stands for any characters, or none. */
export const ROOM_PATTERN_PATTERN = '^[A-Za-z0-9*][A-Za-z0-9._*-]{0,127}$';

/** Names, and beginnings of names before a `*` at the end: PostgreSQL compares each with a name in one go, and so for many names. */
export const ROOM_BEGINNING_PATTERN = '^(?:\\*|[A-Za-z0-9][A-Za-z0-9._-]{0,127}\\*?)$';

/**
 * Whether a pattern matches a room name.
 *
 * Each part between two stars is searched for once, from left to right, without backtracking, so that no
 * pattern is slow.
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

/** `null` means every room. */
export function mayJoinRoom(patterns: readonly string[] | null, name: string): boolean {
  return patterns === null || patterns.some((pattern) => matchesRoom(pattern, name));
}
