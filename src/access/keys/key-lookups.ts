/**
 * Look-ups of API keys. Those that come at the same time share one statement.
 *
 * Nothing is cached: a statement is sent after the last of its look-ups was requested, so no answer predates a
 * revocation.
 */
import { Gather } from '../../base/db/gather.ts';
import type { Pool } from '../../base/db/pool.ts';
import { findKeysById, type KeyInUse } from './keys.sql.ts';

export class KeyLookups {
  readonly #lookups: Gather<string, KeyInUse | undefined>;

  constructor(db: Pool) {
    this.#lookups = new Gather(async (ids) => {
      const found = await findKeysById(db, [...new Set(ids)]);
      return ids.map((id) => found.get(id));
    });
  }

  /** The key with this id, also one that works no longer. */
  find(id: string): Promise<KeyInUse | undefined> {
    return this.#lookups.ask(id);
  }
}
