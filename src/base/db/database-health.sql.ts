/** How the database is, for operators. Of a cluster, it is the coordinator that says so. */
import { isDistributed } from './distribution.ts';
import type { Db } from './pool.ts';

export interface DatabaseHealth {
  readonly bytes: number;
  /** Connections to all databases of the server, and what it allows to those who are no superusers. */
  readonly connections: number;
  readonly connectionsMax: number;
  /** Statements of the service's role that wait for a lock, in all processes. */
  readonly waitingForLocks: number;
  /** Since the oldest transaction in this database began, as far as the role of the service sees it. */
  readonly oldestSeconds: number;
  /** How many follow, what they have yet to repeat, and how long ago it happened. `null`: the role may not see it. */
  readonly standbys: number;
  readonly lagBytes: number | null;
  readonly lagSeconds: number | null;
  /** Processes of the service that live. */
  readonly processes: number;
  /** The server is one of several, and speaks for itself. */
  readonly isCoordinator: boolean;
}

export async function findDatabaseHealth(db: Db): Promise<DatabaseHealth> {
  const { rows } = await db.query<Omit<DatabaseHealth, 'isCoordinator'>>({
    name: 'find-database-health',
    text: `select pg_database_size(current_database())::double precision as bytes,
                  current_setting('max_connections')::integer
                    - current_setting('superuser_reserved_connections')::integer
                    - coalesce(current_setting('reserved_connections', true)::integer, 0) as "connectionsMax",
                  (select sum(numbackends)::integer from pg_stat_database where datid <> 0) as connections,
                  a.*, r.*,
                  (select count(*)::integer from processes
                    where gone_at is null and seen_at > now() - interval '4 seconds') as processes
             from (select (count(*) filter (where wait_event_type = 'Lock'))::integer as "waitingForLocks",
                          coalesce(extract(epoch from now() - min(xact_start)), 0)::double precision as "oldestSeconds"
                     from pg_stat_activity where datname = current_database()) as a,
                  (select count(*)::integer as standbys,
                          max(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::double precision as "lagBytes",
                          case when count(replay_lsn) > 0 then
                            coalesce(max(extract(epoch from replay_lag)), 0)::double precision end as "lagSeconds"
                     from pg_stat_replication where state is distinct from 'backup') as r`,
    values: [],
  });
  return { ...rows[0]!, isCoordinator: isDistributed() };
}
