/**
 * Looks whether each server of a distributed database answers. One process asks for all, and each reads what was found: so
 * that requests of tenants of a server that is away fail at once and hold no connections.
 */

import { setAwayServers } from '../base/db/away-servers.ts';
import { askServer, claimServers, findServers, noteAnswer } from '../base/db/database-servers.sql.ts';
import type { Pool } from '../base/db/pool.ts';
import type { BaseMetrics } from '../base/telemetry/metrics.ts';

/** Also of a server that is away. */
const ASKED_SECONDS = 1;

/** `db`: connections that nothing else needs, because a server that hangs keeps one waiting for seconds. */
export async function watchServers(db: Pool, metrics: Pick<BaseMetrics, 'databaseServers'>): Promise<void> {
  for (const id of await claimServers(db, ASKED_SECONDS)) await noteAnswer(db, id, await askServer(db, id));
  const servers = await findServers(db);
  setAwayServers(servers.filter(({ awaySeconds }) => awaySeconds !== null).map(({ id }) => id));
  metrics.databaseServers.reset();
  for (const { name, awaySeconds } of servers)
    metrics.databaseServers.set({ server: name }, awaySeconds === null ? 1 : 0);
}
