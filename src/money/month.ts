/** Calendar months, in UTC. */
import { invalidRequest } from '../base/failure.ts';

declare const month: unique symbol;
/** Such as `2026-10`. */
export type Month = string & { readonly [month]: true };

/**
 * How long after its end the statement of a month is there. The time of a posting is taken before its commit, and no
 * transaction of the service takes nearly as long.
 */
export const READY_MINUTES = 15;

/** `undefined`: it is no month. */
export function parseMonth(text: string): Month | undefined {
  return /^(?!0000)\d{4}-(0[1-9]|1[0-2])$/.test(text) ? (text as Month) : undefined;
}

export function monthOf(time: Date): Month {
  return time.toISOString().slice(0, 7) as Month;
}

export function startOf(of: Month): Date {
  return new Date(`${of}-01T00:00:00Z`);
}

/** The start of the next month. */
export function endOf(of: Month): Date {
  const end = startOf(of);
  end.setUTCMonth(end.getUTCMonth() + 1);
  return end;
}

/** Whether all postings of the month are committed. Fails with `invalid_request` if it has not begun. */
export function isComplete(of: Month, now: Date): boolean {
  if (now < startOf(of)) throw invalidRequest(`month ${of} has not begun`);
  return now >= readyAt(of);
}

/** From when on its statement is there. */
export function readyAt(of: Month): Date {
  return new Date(endOf(of).getTime() + READY_MINUTES * 60_000);
}
