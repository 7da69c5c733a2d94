/**
 * Batches key look-ups: while one is in flight, all look-ups of one turn of the event loop share one
 * statement. A look-up that comes alone is sent at once.
 *
 * Under load, most of the cost of a look-up is the round trip to the database. Nothing is cached: a statement
 * is sent after the last of its look-ups was requested, so no answer predates a revocation.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Pool } from '../../base/db/pool.ts';
import { findKeysById, type KeyInUse } from './keys.sql.ts';

interface Turn {
  readonly ids: Set<string>;
  readonly found: Promise<ReadonlyMap<string, KeyInUse>>;
}

export class KeyLookups {
  readonly #db: Pool;
  #turn: Turn | undefined;
  #underWay = 0;

  constructor(db: Pool) {
    this.#db = db;
  }

  /** The key with this id, also one that works no longer. */
  async find(id: string): Promise<KeyInUse | undefined> {
    this.#turn ??= this.#begin();
    const { ids, found } = this.#turn;
    ids.add(id);
    return (await found).get(id);
  }

  #begin(): Turn {
    const ids = new Set<string>();
    const gathered = this.#underWay === 0 ? Promise.resolve() : endOfTurn();
    return { ids, found: gathered.then(() => this.#look(ids)) };
  }

  async #look(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, KeyInUse>> {
    this.#turn = undefined;
    this.#underWay += 1;
    try {
      return await findKeysById(this.#db, [...ids]);
    } finally {
      this.#underWay -= 1;
    }
  }
}
