/** SQL that reads a tenant's charged usage forwards, posting by posting, as sums by participant. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { PostingKind } from '../ledger/ledger-line.ts';
import { FOUND_BY, PAGE, type RecordsPlace, selectRecordsOf } from '../ledger/records-of-postings.sql.ts';
import type { Tier } from '../pricing/role.ts';
import { tierOf } from '../pricing/role-codes.ts';

const POSTINGS_AT_ONCE = 500;

export interface NextPosting extends RecordsPlace {
  readonly kind: PostingKind;
  readonly at: Date;
}

/** The next postings after `after`, of every kind: up to so many that they have `look` records, and at least one. */
export async function findNextPostings(
  tx: Tx,
  tenant: TenantId,
  after: bigint,
  look: number,
): Promise<NextPosting[]> {
  const { rows } = await tx.query<NextPosting>({
    name: 'find-next-postings',
    text: `select seq, kind, at, records, "insertedAt", ids, ${PAGE}
             from (
               select seq, kind, at, ${FOUND_BY},
                      sum(coalesce(records, 1)) over (order by seq) - coalesce(records, 1) as before
                 from (select * from postings where tenant_id = $1 and seq > $2
                        order by seq limit ${POSTINGS_AT_ONCE}) as next) as counted
            where before < $3 order by seq`,
    values: [tenant, after, look],
  });
  return rows;
}

/** What the records of one posting, room, participant and tier add up to. */
export interface ParticipantSum {
  readonly seq: bigint;
  readonly room: string | null;
  readonly participant: string | null;
  readonly tier: Tier;
  readonly records: bigint;
  readonly seconds: bigint;
  /** The seconds of the longest record. */
  readonly longest: number;
  readonly egressBytes: bigint;
  readonly ingressBytes: bigint;
  /** In micros; of an unbilled posting, what it would have cost. */
  readonly amount: bigint;
}

export async function sumByParticipant(
  tx: Tx,
  tenant: TenantId,
  postings: readonly RecordsPlace[],
): Promise<ParticipantSum[]> {
  if (postings.every(({ records }) => records === null)) return [];
  const values: unknown[] = [tenant];
  const put = (value: unknown) => `$${values.push(value)}`;
  const columns = 'posting_seq as seq, room, participant, tier, seconds, egress_bytes, ingress_bytes, amount';
  type Row = Omit<ParticipantSum, 'tier' | 'egressBytes' | 'ingressBytes' | 'amount'> &
    Record<'tier' | 'egressBytes' | 'ingressBytes' | 'amount', string>;
  const { rows } = await tx.query<Row>({
    text: `select seq, room, participant, tier, count(*) as records, sum(seconds) as seconds,
                  max(seconds) as longest, sum(egress_bytes) as "egressBytes", sum(ingress_bytes) as "ingressBytes",
                  sum(amount) as amount
             from (${selectRecordsOf(postings, { columns, where: 'true', put })}) as r
            group by seq, room, participant, tier order by seq, room, participant, tier`,
    values,
  });
  return rows.map((row) => ({
    ...row,
    tier: tierOf(row.tier),
    egressBytes: BigInt(row.egressBytes),
    ingressBytes: BigInt(row.ingressBytes),
    amount: BigInt(row.amount),
  }));
}
