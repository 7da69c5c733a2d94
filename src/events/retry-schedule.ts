/** When a turn of a listener that failed is tried again. */

const RETRY_SECONDS_MIN = 1;
const RETRY_SECONDS_MAX = 300;

/**
 * How long a listener backs off from a tenant after this many failed turns in a row: 1, 2, 4, ... seconds.
 */
export function retryAfterSeconds(failures: number): number {
  return Math.min(RETRY_SECONDS_MIN * 2 ** (failures - 1), RETRY_SECONDS_MAX);
}
