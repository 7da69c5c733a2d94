/** How long others wait for locks of the process that migrates. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MIGRATION_LOCK } from '../../src/base/db/migrate.ts';
import type { Pool } from '../../src/base/db/pool.ts';

/** A row for each lock that is waited for because of the process that migrates, with its age in ms. Without any, one row. */
const WAITS = `
  with migrating as (
    select m.pid from pg_locks m
     where m.locktype = 'advisory' and m.granted and m.objsubid = 1
       and (m.classid::bigint << 32 | m.objid::bigint) = $1::bigint
       and m.database = (select d.oid from pg_database d where d.datname = current_database()))
  select (select count(*) from migrating)::integer as migrating,
         w.relation::regclass::text as relation,
         extract(epoch from clock_timestamp() - w.waitstart)::float8 * 1000 as ms
    from (select 1) as one (row)
    left join pg_locks w on not w.granted and w.locktype <> 'advisory' and w.pid not in (select pid from migrating)
     and exists (select from migrating m where m.pid = any (pg_blocking_pids(w.pid)))`;

interface Seen {
  readonly migrating: number;
  readonly relation: string | null;
  readonly ms: number | null;
}

/** Between two looks. */
const PAUSE_MS = 4;

export interface LockWaits {
  /** In ms; 0: none was seen. */
  readonly longest: number;
  /** The table of the longest wait. */
  readonly table: string | undefined;
  /** For how long a process was seen to migrate. */
  readonly migratingMs: number;
}

/** Looks until `ended`, about a hundred times a second. Calls `whenMigrating` when it sees a process that migrates. */
export async function watchLocks(
  db: Pool,
  ended: AbortSignal,
  whenMigrating: () => void,
): Promise<LockWaits> {
  let longest = 0;
  let table: string | undefined;
  let first: number | undefined;
  let last = 0;
  while (!ended.aborted) {
    const { rows } = await db.query<Seen>(WAITS, [MIGRATION_LOCK]);
    if (rows[0]!.migrating > 0) {
      last = performance.now();
      first ??= last;
      whenMigrating();
    }
    for (const { relation, ms } of rows) {
      if (ms !== null && ms > longest) [longest, table] = [ms, relation ?? 'a row'];
    }
    await sleep(PAUSE_MS);
  }
  return { longest, table, migratingMs: first === undefined ? 0 : last - first };
}
