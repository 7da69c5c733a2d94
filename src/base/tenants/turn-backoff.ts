/** When work that failed is tried again: a turn of a listener, or of a tenant in a job. */

const RETRY_SECONDS_MIN = 1;
const RETRY_SECONDS_MAX = 300;

/** How long to back off after this many failures in a row: 1, 2, 4, ... seconds. */
export function retryAfterSeconds(failures: number): number {
  return Math.min(RETRY_SECONDS_MIN * 2 ** (failures - 1), RETRY_SECONDS_MAX);
}
