/** When a mail that could not be sent is tried again. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Waits after each failed attempt: about a day in all. */
const RETRY_SECONDS = [
  MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  40 * MINUTE,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  9 * HOUR,
] as const;

/** Waits for a link to log in, which a person waits for, and which expires. */
const LINK_RETRY_SECONDS = [5, 10, 30, MINUTE, 2 * MINUTE, 3 * MINUTE, 4 * MINUTE] as const;

/** Seconds until the next attempt after this many; `undefined`: there is none. */
export function retryAfterSeconds(attempts: number, { hasLink }: { readonly hasLink: boolean }) {
  const waits: readonly number[] = hasLink ? LINK_RETRY_SECONDS : RETRY_SECONDS;
  return waits[attempts - 1];
}
