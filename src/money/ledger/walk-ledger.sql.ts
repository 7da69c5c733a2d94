/** SQL that reads a ledger backwards. Planned for the values of each call: how many records they mean decides. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { ROLE_CODES, roleOf, TIER_CODES, tierOf } from '../pricing/role-codes.ts';
import type { LedgerFilter, LedgerPlace, LedgerPosting, LedgerRecord, PostingKind } from './ledger-line.ts';
import { RECENT_ENTRIES_MAX } from './posting.ts';
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
                  case when records is not null and ids is null then (
                    select (r.ctid::text::point)[0] from usage_records r where r.tenant_id = $1 and r.id = newest) end as page
             from (
               select seq, kind, at, amount, balance, reference, detail, payment_id as "paymentId", records,
                      inserted_at::text as "insertedAt", newest_ids[1] as newest, case when records <= ${RECENT_ENTRIES_MAX} then newest_ids end as ids,
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

interface Wanted {
  readonly filter: LedgerFilter;
  /** The first record comes after it. */
  readonly place: LedgerPlace;
  readonly limit: number;
}

interface RecordRow extends Omit<LedgerRecord, 'role' | 'tier'> {
  readonly role: string;
  readonly tier: string;
}

/** Two ranges of the index by time: a span reads no more of other tenants than a look-up of each time would. */
const NEAR_PAGES = 256;
const SPANS_MAX = 8;

const RECORD = `posting_seq as seq, line, id, room, participant, role, tier, seconds, egress_bytes as "egressBytes",
  ingress_bytes as "ingressBytes", amount, capped`;

/**
 * The records of these postings, newest first.
 *
 * Those of a small posting are looked up by their ids, which the posting names; those of a large one lie together,
 * and are found by the time at which they were inserted.
 */
export async function findRecordsOf(
  db: Db,
  tenant: TenantId,
  postings: readonly LedgerPosting[],
  { filter, place, limit }: Wanted,
): Promise<LedgerRecord[]> {
  const ofUsage = postings.filter(({ records }) => records !== null);
  const small = ofUsage.filter(({ ids }) => ids !== null);
  const large = ofUsage.filter(({ ids }) => ids === null);
  if (ofUsage.length === 0) return [];
  const values: unknown[] = [tenant, place.seq, place.line, limit];
  const put = (value: unknown) => `$${values.push(value)}`;
  const { room, participant, role, tier } = filter;
  const where = [
    'tenant_id = $1 and (posting_seq, line) < ($2, $3::integer)',
    room !== undefined && `coalesce(room, '') = ${put(room)}`,
    participant !== undefined && `coalesce(participant, '') = ${put(participant)}`,
    role && `role = ${put(ROLE_CODES[role])}`,
    tier && `tier = ${put(TIER_CODES[tier])}`,
  ]
    .filter(Boolean)
    .join(' and ');
  const seqs = (some: readonly LedgerPosting[]) => put(some.map(({ seq }) => seq));
  const parts = [
    small.length > 0 &&
      `select ${RECORD} from usage_records
        where ${where} and id = any(${put(small.flatMap(({ ids }) => ids))}) and posting_seq = any(${seqs(small)})`,
    large.length > 0 &&
      `select ${RECORD} from usage_records
        where ${where} and (${insertedWith(large, put)}) and posting_seq = any(${seqs(large)})`,
  ];
  const { rows } = await db.query<RecordRow>({
    text: `${parts.filter(Boolean).join(' union all ')} order by seq desc, line desc limit $4`,
    values,
  });
  return rows.map((row) => ({ ...row, role: roleOf(row.role), tier: tierOf(row.tier) }));
}

/**
 * A condition on `inserted_at` that all records of these postings fulfil, and few others.
 *
 * Each time is looked for in the whole index, and each record that is read is compared with each time. So a run of postings
 * whose records lie near one another is one span of time. Elsewhere, a span would have the records of other tenants.
 */
function insertedWith(postings: readonly LedgerPosting[], put: (value: unknown) => string): string {
  const runs = findRuns(postings);
  const spans = runs.filter(({ length }) => length > 1).slice(0, SPANS_MAX);
  const single = runs.filter((run) => !spans.includes(run)).flat();
  const times = (some: readonly LedgerPosting[]) =>
    `${put(some.map(({ insertedAt }) => insertedAt))}::timestamptz[]`;
  const conditions = spans.map((run) => {
    const edge = (which: 'min' | 'max') => `(select ${which}(at) from unnest(${times(run)}) as at)`;
    return `inserted_at between ${edge('min')} and ${edge('max')}`;
  });
  if (single.length > 0) conditions.push(`inserted_at = any(${times(single)})`);
  return conditions.join(' or ');
}

/** Postings that follow one another in the list and in the table. */
function findRuns(postings: readonly LedgerPosting[]): LedgerPosting[][] {
  const runs: LedgerPosting[][] = [];
  for (const posting of postings) {
    const before = runs.at(-1)?.at(-1);
    const isNear =
      before?.page != null && posting.page !== null && Math.abs(before.page - posting.page) <= NEAR_PAGES;
    if (isNear) runs.at(-1)!.push(posting);
    else runs.push([posting]);
  }
  return runs;
}
