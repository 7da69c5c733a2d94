/** SQL that adds up the rows of postings by participant. */
import { isDistributed } from '../../base/db/distribution.ts';
import { runTogether, type Statement } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { tierOf } from '../pricing/role-codes.ts';
import type { SummedPosting } from './charged-record.ts';
import type { ParticipantSum } from './participant-sum.ts';
import { selectRecordsOf } from './records-of-postings.sql.ts';

type SumRow = Omit<ParticipantSum, 'tier' | 'egressBytes' | 'ingressBytes' | 'amount'> &
  Record<'tier' | 'egressBytes' | 'ingressBytes' | 'amount', string>;

const COLUMNS = 'posting_seq as seq, room, participant, tier, seconds, egress_bytes, ingress_bytes, amount';

const SUMS = `count(*) as records, sum(seconds) as seconds, max(seconds) as longest,
          sum(egress_bytes) as "egressBytes", sum(ingress_bytes) as "ingressBytes", sum(amount) as amount`;

/** Not ordered: sorting the records would take longer than adding them up. */
const sumsOf = (records: string) =>
  `select seq, room, participant, tier, ${SUMS} from (${records}) as r group by seq, room, participant, tier`;

/** Records of the postings `$2` of the tenant `$1`, by the ids that these name. */
const namedRecords = (columns: string) =>
  `select ${columns} from postings p, unnest(p.newest_ids) as n (id), lateral (
     select ${COLUMNS} from usage_records where tenant_id = $1 and id = n.id and posting_seq = p.seq) as r
    where p.tenant_id = $1 and p.seq = any($2)`;

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
  readonly left: readonly SummedPosting[];
}

/** Sums of the records of these postings of usage, in no order. */
export async function sumRows(
  tx: Tx,
  tenant: TenantId,
  postings: readonly SummedPosting[],
): Promise<RowSums> {
  const sums: ParticipantSum[] = [];
  let left = postings;
  for (const recordsAPage of isDistributed() ? [] : RECORDS_A_PAGE) {
    const large = left.filter(({ page }) => page !== null);
    if (large.length === 0) break;
    left = takeWhole(await sumNear(tx, tenant, large, recordsAPage), left, sums);
  }
  for (const isNamed of [true, false]) {
    const some = left.filter((each) => each.isNamed === isNamed);
    if (some.length > 0) left = takeWhole(await sumFound(tx, tenant, some, isNamed), left, sums);
  }
  return { sums, left };
}

/**
 * Sums by kind, room and tier, each with the last of its postings. `undefined`: one of the postings does not name its records, or they
 * are not all there as rows.
 */
export async function sumRowsByRoom(
  tx: Tx,
  tenant: TenantId,
  postings: readonly SummedPosting[],
): Promise<ParticipantSum[] | undefined> {
  if (!postings.every(({ isNamed }) => isNamed)) return undefined;
  const { rows } = await tx.query<SumRow>({
    name: 'sum-named-records-by-room',
    text: `select max(seq) as seq, room, null as participant, tier, ${SUMS}
             from (${namedRecords('p.kind, r.*')}) as r group by kind, room, tier`,
    values: [tenant, postings.map(({ seq }) => seq)],
  });
  const found = rows.reduce((sum, { records }) => sum + Number(records), 0);
  return found === countRecords(postings) ? rows.map(readSum) : undefined;
}

function countRecords(postings: readonly SummedPosting[]): number {
  return postings.reduce((sum, { records }) => sum + records!, 0);
}

/** Moves what is found of whole postings to `sums`. Returns the other postings. */
function takeWhole(
  found: readonly ParticipantSum[],
  postings: readonly SummedPosting[],
  sums: ParticipantSum[],
): SummedPosting[] {
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
  postings: readonly SummedPosting[],
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
  postings: readonly SummedPosting[],
  isNamed: boolean,
): Promise<ParticipantSum[]> {
  if (isNamed) {
    const { rows } = await tx.query<SumRow>({
      name: 'sum-named-records',
      text: sumsOf(namedRecords('r.*')),
      values: [tenant, postings.map(({ seq }) => seq)],
    });
    return rows.map(readSum);
  }
  const values: unknown[] = [tenant];
  const put = (value: unknown) => `$${values.push(value)}`;
  const large = postings.map((posting) => ({ ...posting, ids: null }));
  const text = sumsOf(selectRecordsOf(large, { columns: COLUMNS, where: 'true', put }));
  const { rows } = await tx.query<SumRow>({ text, values });
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
