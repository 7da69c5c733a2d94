/** SQL that adds up the rows of postings by participant. */
import { isDistributed } from '../../base/db/distribution.ts';
import { runTogether, type Statement } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { tierOf } from '../pricing/role-codes.ts';
import type { RecordsPlace } from './charged-record.ts';
import type { ParticipantSum } from './participant-sum.ts';
import { selectRecordsOf } from './records-of-postings.sql.ts';

type SumRow = Omit<ParticipantSum, 'tier' | 'egressBytes' | 'ingressBytes' | 'amount'> &
  Record<'tier' | 'egressBytes' | 'ingressBytes' | 'amount', string>;

const COLUMNS = 'posting_seq as seq, room, participant, tier, seconds, egress_bytes, ingress_bytes, amount';

/** Not ordered: sorting the records would take longer than adding them up. */
const sumsOf = (records: string) =>
  `select seq, room, participant, tier, count(*) as records, sum(seconds) as seconds, max(seconds) as longest,
          sum(egress_bytes) as "egressBytes", sum(ingress_bytes) as "ingressBytes", sum(amount) as amount
     from (${records}) as r group by seq, room, participant, tier`;

/** For one statement: PostgreSQL expects few records, and would sort them to add them up. */
const sorting = (isAllowed: 'on' | 'off'): Statement => ({
  name: `sort-${isAllowed}`,
  text: `select set_config('enable_sort', '${isAllowed}', true)`,
});

/**
 * So many pages around the newest record of a posting are read, as if each held so many of its records. First those near it, and
 * then more, because other transactions may have written between them. A page holds 40 to 60: the first look is enough where two write at a time.
 */
const RECORDS_A_PAGE = [20, 5];

export interface RowSums {
  readonly sums: readonly ParticipantSum[];
  /** Postings whose records are not all there as rows. */
  readonly left: readonly RecordsPlace[];
}

/** Sums of the records of these postings of usage, in no order. */
export async function sumRows(tx: Tx, tenant: TenantId, postings: readonly RecordsPlace[]): Promise<RowSums> {
  const sums: ParticipantSum[] = [];
  let left = postings;
  for (const recordsAPage of isDistributed() ? [] : RECORDS_A_PAGE) {
    const large = left.filter(({ page }) => page !== null);
    if (large.length === 0) break;
    left = takeWhole(await sumNear(tx, tenant, large, recordsAPage), left, sums);
  }
  if (left.length > 0) left = takeWhole(await sumFound(tx, tenant, left), left, sums);
  return { sums, left };
}

/** Moves what is found of whole postings to `sums`. Returns the other postings. */
function takeWhole(
  found: readonly ParticipantSum[],
  postings: readonly RecordsPlace[],
  sums: ParticipantSum[],
): RecordsPlace[] {
  const bySeq = Map.groupBy(found, ({ seq }) => seq);
  return postings.filter(({ seq, records }) => {
    const own = bySeq.get(seq) ?? [];
    const isWhole = own.reduce((sum, each) => sum + Number(each.records), 0) === records;
    if (isWhole) sums.push(...own);
    return !isWhole;
  });
}

/**
 * Reads the records that lie near the newest one of their posting. A COPY writes its records one after the other, so these are nearly
 * always all. No index finds the records of a posting. `+ 0` keeps PostgreSQL from using the one of ids, in which it would go through
 * all records of the tenant.
 */
async function sumNear(
  tx: Tx,
  tenant: TenantId,
  postings: readonly RecordsPlace[],
  recordsAPage: number,
): Promise<ParticipantSum[]> {
  const around = (direction: -1 | 1) =>
    postings.map(({ page, records }) => {
      const pages = Math.ceil(records! / recordsAPage) + 1;
      return `(${Math.max(0, page! + direction * pages)},0)`;
    });
  const summing: Statement<SumRow> = {
    name: 'sum-near-records',
    text: sumsOf(`select r.* from unnest($2::bigint[], $3::tid[], $4::tid[]) as p (seq, low, high), lateral (
                    select ${COLUMNS} from usage_records
                     where tenant_id + 0 = $1 and posting_seq = p.seq and ctid >= p.low and ctid < p.high offset 0) as r`),
    values: [tenant, postings.map(({ seq }) => seq), around(-1), around(1)],
  };
  const [, rows] = await runTogether(tx, [sorting('off'), summing, sorting('on')]);
  return rows.map(readSum);
}

async function sumFound(
  tx: Tx,
  tenant: TenantId,
  postings: readonly RecordsPlace[],
): Promise<ParticipantSum[]> {
  const values: unknown[] = [tenant];
  const put = (value: unknown) => `$${values.push(value)}`;
  const text = sumsOf(selectRecordsOf(postings, { columns: COLUMNS, where: 'true', put }));
  // The same text for any number of small postings.
  const isKept = postings.every(({ ids }) => ids !== null);
  const { rows } = await tx.query<SumRow>({ text, values, ...(isKept && { name: 'sum-named-records' }) });
  return rows.map(readSum);
}

function readSum(row: SumRow): ParticipantSum {
  const { seq, room, participant, tier, records, seconds, longest, egressBytes, ingressBytes, amount } = row;
  return {
    seq,
    room,
    participant,
    tier: tierOf(tier),
    records,
    seconds,
    longest,
    egressBytes: BigInt(egressBytes),
    ingressBytes: BigInt(ingressBytes),
    amount: BigInt(amount),
  };
}
