/** SQL that tells how many usage records are rows, how many are archived, and what both take. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Db } from '../../base/db/pool.ts';
import { onServers } from '../../base/tenants/shares.ts';
import { OF_USAGE } from './records-to-archive.sql.ts';

export interface ArchiveState {
  /** As PostgreSQL estimates; `null` where tables are distributed: it is not known there. */
  readonly rows: number | null;
  readonly archived: number;
  /** Both with indexes and TOAST. */
  readonly rowBytes: number;
  readonly archivedBytes: number;
  /** The age of the oldest record that is not archived, in seconds; 0: all are. */
  readonly oldestSeconds: number;
}

/** Reads a row for each chunk and each tenant. */
export async function findArchiveState(db: Db): Promise<ArchiveState> {
  const ofServers = await onServers<Pick<ArchiveState, 'archived' | 'oldestSeconds'>>(db, {
    name: 'find-archived',
    text: (tenants) => `
      select coalesce(sum(archived), 0)::float8 as archived,
             coalesce(max(extract(epoch from now() - oldest)), 0)::float8 as "oldestSeconds"
        from (select records as archived, null::timestamptz as oldest from record_chunks
               where true ${tenants.and('tenant_id', 1)}
              union all
              select 0, (select p.at from postings p
                          where p.tenant_id = a.tenant_id and p.seq > a.archived_seq and p.${OF_USAGE}
                          order by p.seq limit 1)
                from accounts a
               where last_seq > archived_seq ${tenants.and('a.tenant_id', 1)}) as each`,
    values: [],
  });
  return {
    ...(await findSizes(db)),
    archived: ofServers.reduce((sum, { archived }) => sum + archived, 0),
    oldestSeconds: Math.max(0, ...ofServers.map(({ oldestSeconds }) => oldestSeconds)),
  };
}

const ARCHIVE_TABLES = `('record_chunks'), ('known_id_runs'), ('known_id_pages')`;

async function findSizes(db: Db): Promise<Pick<ArchiveState, 'rows' | 'rowBytes' | 'archivedBytes'>> {
  const [name, rowCount, sizeOf] = isDistributed()
    ? [
        'find-record-sizes-of-shards',
        'null::float8',
        (table: string) =>
          `(select coalesce(sum(shard_size), 0) from citus_shards where table_name = ${table}::regclass)`,
      ]
    : [
        'find-record-sizes',
        `(select greatest(reltuples, 0) from pg_class where oid = 'usage_records'::regclass)::float8`,
        (table: string) => `pg_total_relation_size(${table}::regclass)`,
      ];
  const { rows } = await db.query<Pick<ArchiveState, 'rows' | 'rowBytes' | 'archivedBytes'>>({
    name,
    text: `select ${rowCount} as rows, ${sizeOf(`'usage_records'`)}::float8 as "rowBytes",
                  (select sum(${sizeOf('name')}) from (values ${ARCHIVE_TABLES}) as tables (name))::float8 as "archivedBytes"`,
  });
  return rows[0]!;
}
