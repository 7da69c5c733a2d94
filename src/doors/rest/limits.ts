/** Limits of this door. Source: specification 8. Limits of a resource are next to its noun. */

export const BODY_BYTES_MAX = 1024 * 1024;
/** BODY_BYTES_MAX in words, for the message. */
export const BODY_MAX = '1 MiB';

/** Characters of an `Idempotency-Key`. */
export const IDEMPOTENCY_KEY_MAX = 255;

/** Characters of a parameter of a query. The longest ones are cursors, which may name a record. */
export const QUERY_TEXT_MAX = 2_000;

/** Characters of the path in an `Invalid-Field`, before it is encoded. */
export const FIELD_LENGTH_MAX = 200;
