import { Lookups } from '../../base/db/lookups.ts';
import type { Pool } from '../../base/db/pool.ts';
import { findKeysById, type KeyInUse } from './keys.sql.ts';

/** Look-ups of API keys, also of those that work no longer. */
export class KeyLookups extends Lookups<KeyInUse> {
  constructor(db: Pool) {
    super((ids) => findKeysById(db, ids));
  }
}
