/** What a database holds at a moment. A restored one is compared with it. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Db } from '../../base/db/pool.ts';
import type { Counts } from './counts.ts';

export interface DatabaseState extends Counts {
  /** When the deployment was set up, to the microsecond. A restored database keeps it, and no other deployment has it. */
  readonly deployment: string;
  /** No later change is in it. */
  readonly moment: Date;
}

const DISTRIBUTED =
  'the tables are distributed: each server needs a base backup of its own, see "Several database servers" in docs/processes.md';

/** No snapshot spans several servers. */
export function assertOneServer(): void {
  if (isDistributed()) throw new Error(DISTRIBUTED);
}

/** Their files are elsewhere, and a copy would have to be there, too. */
export async function assertNoTablespaces(db: Db): Promise<void> {
  const { rows } = await db.query<{ names: string | null }>(
    `select string_agg(spcname, ', ' order by spcname) as names from pg_tablespace
      where spcname not in ('pg_default', 'pg_global')`,
  );
  const { names } = rows[0]!;
  if (names !== null)
    throw new Error(`the server has tablespaces (${names}), whose files are not copied: make a dump`);
}

/**
 * On a standby, that of what it has replayed, which may be older than what its primary has. One that has replayed no change since its
 * start has at least what was there at its last checkpoint.
 */
const MOMENT = `case when pg_is_in_recovery()
    then coalesce(pg_last_xact_replay_timestamp(), (select checkpoint_time from pg_control_checkpoint()))
    else now() end as moment`;

export async function findDatabaseState(db: Db): Promise<DatabaseState> {
  const { rows } = await db.query<DatabaseState>(
    `select (select to_char(min(run_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') from migrations)
              as deployment,
            ${MOMENT},
            (select count(*) from accounts) as tenants, p.postings, p.records,
            (select count(*) from payments) as payments
       from (select count(*) as postings, coalesce(sum(records), 0)::bigint as records from postings) as p`,
  );
  return rows[0]!;
}

/** Which database of which server it is. */
export interface DatabasePlace {
  readonly database: string;
  /** The role that owns the tables. */
  readonly owner: string;
  /** The one of PostgreSQL. */
  readonly majorVersion: number;
}

export async function findDatabasePlace(db: Db): Promise<DatabasePlace> {
  const { rows } = await db.query<DatabasePlace>(
    `select current_database() as database, pg_get_userbyid(relowner) as owner,
            current_setting('server_version_num')::integer / 10000 as "majorVersion"
       from pg_class where oid = 'migrations'::regclass`,
  );
  return rows[0]!;
}

/** Other connections can read the state of this transaction by the name that is returned. */
export async function exportSnapshot(snapshot: Db): Promise<string> {
  const { rows } = await snapshot.query<{ id: string }>('select pg_export_snapshot() as id');
  return rows[0]!.id;
}

export async function findMoment(db: Db): Promise<Date> {
  const { rows } = await db.query<{ moment: Date }>(`select ${MOMENT}`);
  return rows[0]!.moment;
}

export interface Replayed {
  /** The time of the last change that came from the WAL; `undefined`: none did. */
  readonly until: Date | undefined;
  /** The file of the WAL that was read last. */
  readonly segment: string;
}

/** After a recovery. */
export async function findReplayed(db: Db): Promise<Replayed> {
  const { rows } = await db.query<{ until: Date | null; segment: string }>(
    `select pg_last_xact_replay_timestamp() as until, pg_walfile_name(pg_last_wal_replay_lsn()) as segment`,
  );
  const { until, segment } = rows[0]!;
  return { until: until ?? undefined, segment };
}
