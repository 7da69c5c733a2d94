/**
 * A rate limit, counted in a table that all processes share. Counts that wait go together. Those of a key that stays locked fail
 * with `overloaded` after a second, and delay no others.
 */
import { Gather } from '../db/gather.ts';
import { laneOf } from '../db/lane.ts';
import type { Pool } from '../db/pool.ts';
import { countInWindow, takeBackFromWindow, type Window } from './rate-limits.sql.ts';

/** What is counted: `amount` in the window of `key`. */
export interface Count {
  readonly key: string;
  readonly amount: number;
}

export class RateLimit {
  readonly #db: Pool;
  readonly #name: string;
  readonly #counts: Gather<Count, Window>;

  /** A window of `seconds` begins with the first count of a key. `name` separates the limits in the table. */
  constructor(db: Pool, { name, seconds }: { name: string; seconds: number }) {
    this.#db = db;
    this.#name = name;
    this.#counts = new Gather((counts) => countEach(db, seconds, counts), {
      keyOf: ({ key }) => key,
      lane: laneOf(db),
    });
  }

  /**
   * Count one, or `amount`. If the window has more than `max` now, returns the milliseconds until it ends; otherwise
   * `undefined`.
   */
  async count(key: string, max: number, amount = 1): Promise<number | undefined> {
    const { points, msLeft } = await this.add(key, amount);
    return points > max ? msLeft : undefined;
  }

  /** Count one, or `amount`. Returns the window with it. */
  add(key: string, amount = 1): Promise<Window> {
    return this.#counts.ask({ key: this.#keyOf(key), amount });
  }

  /** Count one less: what was counted did not happen. */
  takeBack(key: string): Promise<void> {
    return takeBackFromWindow(this.#db, this.#keyOf(key));
  }

  #keyOf(key: string): string {
    return `${this.#name}:${key}`;
  }
}

/** The window of each key as its own count left it. */
export async function countEach(db: Pool, seconds: number, counts: readonly Count[]): Promise<Window[]> {
  const windows = await countInWindow(db, seconds, amountsOf(counts));
  return windowsOf(counts, (key) => windows.get(key)!);
}

/** The same of windows that all have been counted: the same key may be there several times. */
export function windowsOf(counts: readonly Count[], after: (key: string) => Window): Window[] {
  const left = amountsOf(counts);
  return counts.map(({ key, amount }) => {
    const { points, msLeft } = after(key);
    const later = left.get(key)! - amount;
    left.set(key, later);
    return { points: points - later, msLeft };
  });
}

function amountsOf(counts: readonly Count[]): Map<string, number> {
  const amounts = new Map<string, number>();
  for (const { key, amount } of counts) amounts.set(key, (amounts.get(key) ?? 0) + amount);
  return amounts;
}
