/** Runs one piece of work at a time, in order: what may wait for a lock, so that it never holds more than one connection. */
import type { Pool } from './pool.ts';

export class Lane {
  #last: Promise<void> = Promise.resolve();

  /** The work must not fail. */
  run(work: () => Promise<void>): void {
    this.#last = this.#last.then(work);
  }
}

const lanes = new WeakMap<Pool, Lane>();

/** That of all who use the pool. */
export function laneOf(pool: Pool): Lane {
  const lane = lanes.get(pool) ?? new Lane();
  lanes.set(pool, lane);
  return lane;
}
