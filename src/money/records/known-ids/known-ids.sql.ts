/** SQL of `known_id_runs` and `known_id_pages`. */
import { runTogether } from '../../../base/db/pipeline.ts';
import type { Db, Tx } from '../../../base/db/pool.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import type { MadePage, PageRow } from './page.ts';

export interface Run {
  readonly run: number;
  readonly entries: number;
  /** Its newest entry was archived with this posting or before. */
  readonly lastSeq: bigint;
}

/** The runs of a tenant, the smallest first. */
export async function listRuns(db: Db, tenant: TenantId): Promise<readonly Run[]> {
  const { rows } = await db.query<Run>({
    name: 'list-known-id-runs',
    text: `select run, entries, last_seq as "lastSeq" from known_id_runs where tenant_id = $1 order by entries, run`,
    values: [tenant],
  });
  return rows;
}

/** Sets the locks of merges apart from others. */
const MERGES = 0x4d455247;

/** Until the transaction ends. Returns whether no other merges runs of the tenant. */
export async function lockMerges(tx: Tx, tenant: TenantId): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>({
    name: 'lock-known-id-merges',
    text: 'select pg_try_advisory_xact_lock($1, hashint8($2)) as locked',
    values: [MERGES, tenant],
  });
  return rows[0]!.locked;
}

export async function insertRunRow(tx: Tx, tenant: TenantId, { run, entries, lastSeq }: Run): Promise<void> {
  await tx.query({
    name: 'insert-known-id-run',
    text: 'insert into known_id_runs (tenant_id, run, entries, last_seq) values ($1, $2, $3, $4)',
    values: [tenant, run, entries, lastSeq],
  });
}

export async function insertPages(
  tx: Tx,
  tenant: TenantId,
  run: number,
  pages: readonly MadePage[],
): Promise<void> {
  await tx.query({
    name: 'insert-known-id-pages',
    text: `insert into known_id_pages (tenant_id, run, first_hash, page)
           select $1::bigint, $2::integer, first_hash, page
             from unnest($3::bigint[], $4::bytea[]) as made (first_hash, page)`,
    values: [tenant, run, pages.map(({ firstHash }) => firstHash), pages.map(({ page }) => page)],
  });
}

/** Runs before their pages, after the run that has their entries was inserted. Otherwise the database refuses. */
export async function deleteRuns(tx: Tx, tenant: TenantId, runs: readonly number[]): Promise<void> {
  await runTogether(tx, [
    {
      name: 'delete-known-id-runs',
      text: 'delete from known_id_runs where tenant_id = $1 and run = any($2)',
      values: [tenant, runs],
    },
    {
      name: 'delete-known-id-pages',
      text: 'delete from known_id_pages where tenant_id = $1 and run = any($2)',
      values: [tenant, runs],
    },
  ]);
}

/** The next pages of a run, in order, whose hashes are after `after`. */
export async function readPages(
  db: Db,
  tenant: TenantId,
  run: number,
  after: number,
  limit: number,
): Promise<readonly PageRow[]> {
  const { rows } = await db.query<PageRow>({
    name: 'read-known-id-pages',
    text: `select run, first_hash as "firstHash", page from known_id_pages
            where tenant_id = $1 and run = $2 and first_hash > $3 order by first_hash limit $4`,
    values: [tenant, run, after, limit],
  });
  return rows;
}

/** A run without pages is damaged. It has one row, whose page is `null`. */
export type FoundPage = PageRow | { readonly run: number; readonly firstHash: null; readonly page: null };

/**
 * The pages of all runs in which the hashes would be, each once, in no order. They may be others too: a run with at most `entriesMax`
 * entries is read as a whole, because looking up each hash would cost more.
 *
 * `offset 0` forces one look-up per page. It is one statement, so a merge that commits meanwhile is seen as a whole or not at all.
 */
export async function findPages(
  db: Db,
  tenant: TenantId,
  hashes: readonly number[],
  entriesMax: number,
): Promise<readonly FoundPage[]> {
  const { rows } = await db.query<FoundPage>({
    name: 'find-known-id-pages',
    text: `select r.run, found.first_hash as "firstHash", found.page
             from known_id_runs r left join lateral (
               select p.first_hash, p.page from known_id_pages p
                where p.tenant_id = $1 and p.run = r.run and r.entries <= $3
               union all
               select of_hashes.first_hash, p.page
                 from (select distinct key.first_hash from unnest($2::bigint[]) as asked (hash), lateral (
                         select k.first_hash from known_id_pages k
                          where k.tenant_id = $1 and k.run = r.run and k.first_hash <= asked.hash
                          order by k.first_hash desc limit 1) as key
                        where r.entries > $3) as of_hashes, lateral (
                   select k.page from known_id_pages k
                    where k.tenant_id = $1 and k.run = r.run and k.first_hash = of_hashes.first_hash offset 0) as p) as found on true
            where r.tenant_id = $1`,
    values: [tenant, hashes, entriesMax],
  });
  return rows;
}

/**
 * The next pages, in order, of all runs that have entries newer than `seq`: in each run the page of the hash `from`, and those after it.
 */
export async function readNewPages(
  db: Db,
  tenant: TenantId,
  seq: bigint,
  from: number,
  limit: number,
): Promise<readonly FoundPage[]> {
  const { rows } = await db.query<FoundPage>({
    name: 'read-new-known-id-pages',
    text: `select r.run, next.first_hash as "firstHash", next.page
             from known_id_runs r left join lateral (
               (select p.first_hash, p.page from known_id_pages p
                 where p.tenant_id = $1 and p.run = r.run and p.first_hash <= $3 order by p.first_hash desc limit 1)
               union all
               (select p.first_hash, p.page from known_id_pages p
                 where p.tenant_id = $1 and p.run = r.run and p.first_hash > $3 order by p.first_hash limit $4)) as next on true
            where r.tenant_id = $1 and r.last_seq > $2
            order by next.first_hash nulls first limit $4 + (select count(*) from known_id_runs where tenant_id = $1)`,
    values: [tenant, seq, from, limit],
  });
  return rows;
}
