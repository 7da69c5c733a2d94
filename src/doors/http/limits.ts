/** Limits that the HTTP doors share. A door has the size of its bodies itself, and time-limits.ts has the times. Source: specification 8. */

export const HEAD_BYTES_MAX = 16 * 1024;

/** An id of a usage record: 200 characters, each of which may take 12 when percent-encoded. */
export const PARAM_LENGTH_MAX = 2_400;

/** A body up to this size is parsed at once. A larger one takes a turn: many may have arrived together. */
export const BODY_AT_ONCE_MAX = 32 * 1024;

/** Bytes of larger bodies that arrive or wait for their turn, of all clients of a door. */
export const BODIES_HELD_MAX = 256 * 1024 * 1024;
