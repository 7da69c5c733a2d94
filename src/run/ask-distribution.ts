/** Sets the switch of `isDistributed()` for a process that opens its connections later. */
import { readDistribution } from '../base/db/distribution.ts';
import { openPool, type PoolOptions } from '../base/db/pool.ts';

/** Connections that are opened afterwards have the settings that the database needs. */
export async function askDistribution(url: string, options: PoolOptions = {}): Promise<void> {
  const db = openPool(url, { ...options, max: 1 });
  await readDistribution(db).finally(() => db.end());
}
