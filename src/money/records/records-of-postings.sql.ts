/** SQL that finds the records of postings. Planned for the values of each call: how many records they mean decides. */

import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { archivedSeq } from '../accounts/archived-seq.ts';
import { ROLE_CODES, TIER_CODES } from '../pricing/role-codes.ts';
import { type ChargedRecord, NAMED_IDS_MAX, type RecordFilter, type RecordsPlace } from './charged-record.ts';
import { RECORD, type RecordRow, recordOf } from './find-records.sql.ts';

/** Columns of `postings`, for a subquery whose reader adds PAGE. */
export const FOUND_BY = `records, inserted_at::text as "insertedAt", newest_ids[1] as newest,
  case when records <= ${NAMED_IDS_MAX} then newest_ids end as ids`;

/** For the tenant `$1`. */
export const PAGE = `case when records is not null and ids is null then (
  select (r.ctid::text::point)[0] from usage_records r where r.tenant_id = $1 and r.id = newest) end as page`;

/** Two ranges of the index by time: a span reads no more of other tenants than a look-up of each time would. */
const NEAR_PAGES = 256;
const SPANS_MAX = 8;

/**
 * A query of the records of postings of usage of the tenant `$1`. `put` makes a parameter of a value.
 *
 * Those of a small posting are looked up by their ids, which the posting names; those of a large one lie together,
 * and are found by the time at which they were inserted.
 */
export function selectRecordsOf(
  postings: readonly RecordsPlace[],
  {
    columns,
    where,
    put,
  }: { readonly columns: string; readonly where: string; readonly put: (value: unknown) => string },
): string {
  const ofUsage = postings.filter(({ records }) => records !== null);
  const small = ofUsage.filter(({ ids }) => ids !== null);
  const large = ofUsage.filter(({ ids }) => ids === null);
  const select = (some: readonly RecordsPlace[], found: string) =>
    `select ${columns} from usage_records
      where tenant_id = $1 and ${where} and ${found} and posting_seq = any(${put(some.map(({ seq }) => seq))})`;
  const parts: string[] = [];
  if (small.length > 0) parts.push(select(small, `id = any(${put(small.flatMap(({ ids }) => ids))})`));
  if (large.length > 0) parts.push(select(large, `(${insertedWith(large, put)})`));
  return parts.join(' union all ');
}

/**
 * A condition on `inserted_at` that all records of these postings fulfil, and few others.
 *
 * Each time is looked for in the whole index, and each record that is read is compared with each time. So a run of postings
 * whose records lie near one another is one span of time. Elsewhere, a span would have the records of other tenants.
 */
function insertedWith(postings: readonly RecordsPlace[], put: (value: unknown) => string): string {
  const runs = findRuns(postings);
  const spans = runs.filter(({ length }) => length > 1).slice(0, SPANS_MAX);
  const single = runs.filter((run) => !spans.includes(run)).flat();
  const times = (some: readonly RecordsPlace[]) =>
    `${put(some.map(({ insertedAt }) => insertedAt))}::timestamptz[]`;
  const conditions = spans.map((run) => {
    const edge = (which: 'min' | 'max') => `(select ${which}(at) from unnest(${times(run)}) as at)`;
    return `inserted_at between ${edge('min')} and ${edge('max')}`;
  });
  if (single.length > 0) conditions.push(`inserted_at = any(${times(single)})`);
  return conditions.join(' or ');
}

/** Postings that follow one another in the list and in the table. */
function findRuns(postings: readonly RecordsPlace[]): RecordsPlace[][] {
  const runs: RecordsPlace[][] = [];
  for (const posting of postings) {
    const before = runs.at(-1)?.at(-1);
    const isNear =
      before?.page != null && posting.page !== null && Math.abs(before.page - posting.page) <= NEAR_PAGES;
    if (isNear) runs.at(-1)!.push(posting);
    else runs.push([posting]);
  }
  return runs;
}

export interface Wanted {
  readonly filter: RecordFilter;
  /** The first record comes after it: it has a smaller `seq`, or the same and a smaller `line`. */
  readonly place: Pick<ChargedRecord, 'seq' | 'line'>;
  readonly limit: number;
}

/** What is found as rows, and up to which posting there are chunks. */
export interface Rows<Row> {
  readonly rows: readonly Row[];
  readonly archivedSeq: bigint;
}

/** Those of the rows that are wanted, newest first. */
export async function findRowsOf(
  db: Db,
  tenant: TenantId,
  postings: readonly RecordsPlace[],
  { filter, place, limit }: Wanted,
): Promise<Rows<ChargedRecord>> {
  const values: unknown[] = [tenant, place.seq, place.line, limit];
  const put = (value: unknown) => `$${values.push(value)}`;
  const { room, participant, role, tier } = filter;
  const where = [
    '(posting_seq, line) < ($2, $3::integer)',
    room !== undefined && `coalesce(room, '') = ${put(room)}`,
    participant !== undefined && `coalesce(participant, '') = any(${put([participant].flat())})`,
    role && `role = ${put(ROLE_CODES[role])}`,
    tier && `tier = ${put(TIER_CODES[tier])}`,
  ]
    .filter(Boolean)
    .join(' and ');
  const found = await findRows<RecordRow>(
    db,
    `${selectRecordsOf(postings, { columns: RECORD, where, put })} order by seq desc, line desc limit $4`,
    values,
  );
  return { ...found, rows: found.rows.map(recordOf) };
}

/** The names of participants that the rows of these postings have in a room. */
export async function findParticipantsInRows(
  db: Db,
  tenant: TenantId,
  postings: readonly RecordsPlace[],
  room: string,
): Promise<Rows<string>> {
  const values: unknown[] = [tenant, room];
  const put = (value: unknown) => `$${values.push(value)}`;
  const where = 'room = $2 and participant is not null';
  const { rows, archivedSeq } = await findRows<{ participant: string; seq: bigint }>(
    db,
    `select participant, max(seq) as seq
       from (${selectRecordsOf(postings, { columns: 'participant, posting_seq as seq', where, put })}) as r group by participant`,
    values,
  );
  return { rows: rows.map(({ participant }) => participant), archivedSeq };
}

/**
 * The rows and the end of the archive, by one statement, so that they fit together. Rows that chunks have as well are left out.
 * `select` has a column `seq`.
 */
async function findRows<Row extends { readonly seq: bigint }>(
  db: Db,
  select: string,
  values: unknown[],
): Promise<Rows<Row>> {
  const { rows } = await db.query<Row & { archivedSeq: bigint }>({
    text: `select ${archivedSeq('$1')} as "archivedSeq", r.* from (select) as one left join (${select}) as r on true`,
    values,
  });
  const end = rows[0]!.archivedSeq;
  const found = rows.filter(({ seq }) => seq !== null && seq > end);
  return { rows: found.map(({ archivedSeq: _, ...row }) => row as unknown as Row), archivedSeq: end };
}
