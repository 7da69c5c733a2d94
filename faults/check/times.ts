/** Times of the database in the journal, whose clock is another one. */
import { tenantOf } from './database.ts';
import type { Facts } from './facts.ts';
import { endOf } from './journal.ts';

/** From a text of `Database.rows`, in milliseconds. */
export const millisecondsOf = (time: string) => Date.parse(time.replace(' ', 'T').replace(/\+00$/, 'Z'));

export interface Times {
  /** Microseconds of the journal, from a text of `Database.rows`. */
  of(time: string): number;
  /** It is not more exact than that. */
  readonly nearUs: number;
}

/** Drift, and what a clock takes to be read. */
const NEAR_US_MIN = 2_000_000;

/** A clock that is wrong is so by ten seconds at most, and what it was about to write is written soon. */
const WRONG_US = 30_000_000;

/** What PostgreSQL says of such a time may be wrong. */
export function isClockWrong(facts: Facts, atUs: number): boolean {
  return facts
    .of('fault')
    .some(
      (fault) =>
        fault.args.name === 'the clock of PostgreSQL is wrong' &&
        (fault.args.begunUs ?? fault.invokedUs) <= atUs + WRONG_US &&
        endOf(fault) >= atUs - WRONG_US,
    );
}

/** Signups show it: a tenant is as old as its answer is. The quickest one shows it best. `undefined`: there is none. */
export async function readTimes(facts: Facts): Promise<Times | undefined> {
  const [quickest] = facts
    .of('signup')
    .filter((entry) => entry.outcome === 'ok' && !isClockWrong(facts, entry.invokedUs))
    .toSorted((a, b) => lengthOf(a) - lengthOf(b));
  const [row] = await facts.db.rows(`select created_at from tenants where ${tenantOf('id')} = $1`, [
    quickest?.answer?.tenant,
  ]);
  if (!quickest || !row) return undefined;
  const offsetUs = (quickest.invokedUs + endOf(quickest)) / 2 - millisecondsOf(row.created_at!) * 1_000;
  const nearUs = NEAR_US_MIN + lengthOf(quickest) / 2;
  return { of: (time) => millisecondsOf(time) * 1_000 + offsetUs, nearUs };
}

const lengthOf = (entry: { readonly invokedUs: number; readonly returnedUs: number | null }) =>
  (entry.returnedUs ?? Number.POSITIVE_INFINITY) - entry.invokedUs;
