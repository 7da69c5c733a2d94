/**
 * Look-ups of keys, gathered: all that are asked for in one turn of the event loop are one statement.
 *
 * Under load, most of what a look-up costs is its way to the database and back. Nothing is kept: the
 * statement is sent after the last of them was asked for, so none is answered from before a revocation.
 */
import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Pool } from '../db/pool.ts';
import { findWorkingKeys, type KeyInUse } from './keys.sql.ts';

interface Turn {
  readonly ids: Set<string>;
  readonly found: Promise<ReadonlyMap<string, KeyInUse>>;
}

export class KeyLookups {
  readonly #db: Pool;
  #turn: Turn | undefined;

  constructor(db: Pool) {
    this.#db = db;
  }

  /** The key with this id, if it works now. */
  async find(id: string): Promise<KeyInUse | undefined> {
    this.#turn ??= this.#begin();
    const { ids, found } = this.#turn;
    ids.add(id);
    return (await found).get(id);
  }

  #begin(): Turn {
    const ids = new Set<string>();
    const found = endOfTurn().then(() => {
      this.#turn = undefined;
      return findWorkingKeys(this.#db, [...ids]);
    });
    return { ids, found };
  }
}
