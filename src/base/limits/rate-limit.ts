/** A rate limit, counted in a table that all processes share. Counts that wait go together. */
import { Gather } from '../db/gather.ts';
import type { Pool } from '../db/pool.ts';
import { countInWindow, type Window } from './rate-limits.sql.ts';

export class RateLimit {
  readonly #name: string;
  readonly #counts: Gather<string, Window>;

  /** A window of `seconds` begins with the first count of a key. `name` separates the limits in the table. */
  constructor(db: Pool, { name, seconds }: { name: string; seconds: number }) {
    this.#name = name;
    this.#counts = new Gather((keys) => countEach(db, seconds, keys));
  }

  /**
   * Count one. If the window has more than `max` now, returns the milliseconds until it ends; otherwise
   * `undefined`.
   */
  async count(key: string, max: number): Promise<number | undefined> {
    const { points, msLeft } = await this.add(key);
    return points > max ? msLeft : undefined;
  }

  /** Count one. Returns the window with it. */
  add(key: string): Promise<Window> {
    return this.#counts.ask(`${this.#name}:${key}`);
  }
}

/** The window of each key as its own count left it. */
export async function countEach(db: Pool, seconds: number, keys: readonly string[]): Promise<Window[]> {
  const amounts = new Map<string, number>();
  for (const key of keys) amounts.set(key, (amounts.get(key) ?? 0) + 1);
  const windows = await countInWindow(db, seconds, amounts);
  return windowsOf(keys, (key) => windows.get(key)!);
}

/** The same of windows that all have been counted: the same key may be there several times. */
export function windowsOf(keys: readonly string[], after: (key: string) => Window): Window[] {
  const left = new Map<string, number>();
  for (const key of keys) left.set(key, (left.get(key) ?? 0) + 1);
  return keys.map((key) => {
    const { points, msLeft } = after(key);
    const later = left.get(key)! - 1;
    left.set(key, later);
    return { points: points - later, msLeft };
  });
}
