/** Sets the switch of `isDistributed()` for a process that opens its connections later. */
import { readDistribution } from '../base/db/distribution.ts';
import { openPool } from '../base/db/pool.ts';

/** Connections that are opened afterwards have the settings that the database needs. */
export async function askDistribution(url: string, applicationName?: string): Promise<void> {
  const db = openPool(url, { max: 1, ...(applicationName !== undefined && { applicationName }) });
  await readDistribution(db).finally(() => db.end());
}
