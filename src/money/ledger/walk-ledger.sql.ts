/** SQL that finds postings, the newest first. Planned for the values of each call: how many records they mean decides. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { FOUND_BY, PAGE } from '../records/records-of-postings.sql.ts';
import type { LedgerPosting, PostingKind } from './ledger-line.ts';
import type { SeqRange } from './room-ranges.sql.ts';

/** The first and the last posting of a period; either end may be open. Empty if `last` is before `first`. */
export async function findSeqs(
  db: Db,
  tenant: TenantId,
  { from, to }: { readonly from?: Date | undefined; readonly to?: Date | undefined },
): Promise<{ readonly firstSeq: bigint; readonly lastSeq: bigint }> {
  const { rows } = await db.query<{ firstSeq: bigint; lastSeq: bigint }>({
    name: 'find-seqs',
    text: `select case when $2::timestamptz is null then 1 else coalesce((
                    select seq + 1 from postings where tenant_id = $1 and at < $2
                     order by at desc, seq desc limit 1), 1) end as "firstSeq",
                  case when $3::timestamptz is null then coalesce((
                    select last_seq from accounts where tenant_id = $1), 0)
                  else coalesce((
                    select seq from postings where tenant_id = $1 and at < $3
                     order by at desc, seq desc limit 1), 0) end as "lastSeq"`,
    values: [tenant, from, to],
  });
  return rows[0]!;
}

/** How many postings tell how large postings are. */
const POSTINGS_ASKED = 16;

const OF_USAGE: readonly PostingKind[] = ['usage', 'unbilled'];

/**
 * The next postings of these ranges, newest first: up to so many that they have `look` records, and at least one.
 *
 * The newest ones tell how many records a posting has, so that few more are read than are wanted. There may be fewer, but
 * none between them is left out.
 */
export async function findPostings(
  db: Db,
  tenant: TenantId,
  kinds: readonly PostingKind[],
  ranges: readonly SeqRange[],
  look: number,
): Promise<LedgerPosting[]> {
  // The words of a partial index.
  const rare = kinds.some((kind) => OF_USAGE.includes(kind)) ? '' : `and kind not in ('usage', 'unbilled')`;
  const where = `tenant_id = $1 and kind = any($4) ${rare}`;
  const { rows } = await db.query<LedgerPosting>({
    text: `with most as materialized (
             select 2 * $5::bigint / avg(coalesce(records, 1)) + ${POSTINGS_ASKED} as postings from (
               select records from postings
                where ${where} and seq <= ($3::bigint[])[1] order by seq desc limit ${POSTINGS_ASKED}) as newest
           ), next as (
             select p.* from unnest($2::bigint[], $3::bigint[]) as range (first, last), lateral (
               select * from postings where ${where} and seq >= range.first and seq <= range.last
                order by seq desc limit (select postings from most)::bigint) as p
              order by seq desc limit (select postings from most)::bigint
           )
           select seq, kind, at, amount, balance, reference, detail, "paymentId", records, "insertedAt", ids,
                  ${PAGE}
             from (
               select seq, kind, at, amount, balance, reference, detail, payment_id as "paymentId", ${FOUND_BY},
                      sum(coalesce(records, 1)) over (order by seq desc) - coalesce(records, 1) as before
                 from next) as counted
            where before < $5 order by seq desc`,
    values: [tenant, ranges.map(({ first }) => first), ranges.map(({ last }) => last), kinds, look],
  });
  return rows;
}

/** A posting of usage. */
export async function findPosting(db: Db, tenant: TenantId, seq: bigint): Promise<LedgerPosting | undefined> {
  const [posting] = await findPostings(db, tenant, OF_USAGE, [{ first: seq, last: seq }], 1);
  return posting;
}
