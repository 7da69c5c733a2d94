/** Limits of this door. Source: specification 8. */

export const BODY_BYTES_MAX = 4 * 1024;
/** BODY_BYTES_MAX in words, for the message. */
export const BODY_MAX = '4 KiB';
