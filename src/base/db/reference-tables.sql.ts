/**
 * Tables of which every server of a distributed database has a copy: tenants, keys, credentials, rate cards.
 *
 * Citus lets one transaction at a time change such a table, and locks the tables that it refers to as well, in the
 * order of the statements. Two transactions that change two of them in another order would wait for each other until
 * one is given up, a second or two each time. So each first locks the one table that all others refer to.
 */
import { serverAway } from '../failure.ts';
import { awayServers } from './away-servers.ts';
import { isDistributed } from './distribution.ts';
import type { Tx } from './pool.ts';

/**
 * Call it before the transaction changes or locks rows of these tables, unless it begins by locking a tenant, and after it has
 * locked an account. On one server, rows are locked by themselves. While a server is away, it fails: the change would wait for that
 * server and keep the lock, and a connection, from all others.
 *
 * Not an advisory lock: Citus takes two transactions that wait for one on the coordinator for a deadlock.
 */
export async function lockReferenceTables(tx: Tx): Promise<void> {
  if (!isDistributed()) return;
  if (awayServers().size > 0) throw serverAway();
  // It matters that tenants are asked for, not which.
  await tx.query({
    name: 'lock-reference-tables',
    text: 'select from tenants where id = 0 for no key update',
  });
}
