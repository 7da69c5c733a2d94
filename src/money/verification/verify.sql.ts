/** SQL that recomputes all sums of the ledger, up to the balances. It shares no code with charging. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { REFUND_TAKES } from '../reversals/reversal.ts';
import type { PostingKey, PostingSum, Slice } from './record-sums.ts';

export interface Difference {
  readonly tenant: TenantId;
  /** What was compared. */
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

/** The most differences that one comparison returns; so many mean that there may be more. */
export const DIFFERENCES_MAX = 1_000;

/** Accounts against the sum and the number of their postings. */
export async function compareBalances(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select * from (
       select a.tenant_id as tenant, 'balance' as what,
              format('%s after posting %s', coalesce(sum(p.amount), 0), coalesce(max(p.seq), 0)) as expected,
              format('%s after posting %s', a.balance, coalesce(a.last_seq, 0)) as found
         from accounts a left join postings p on p.tenant_id = a.tenant_id
        group by a.tenant_id) as account
      where expected <> found limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}

/** The sum of a tenant's postings up to `seq`, in micros. */
export interface Sum {
  readonly tenant: TenantId;
  readonly seq: bigint;
  readonly sum: bigint;
}

/** Add the postings since each sum, and read the account's balance. */
export async function sumFurther(db: Db, sums: readonly Sum[]): Promise<(Sum & { balance: bigint })[]> {
  const { rows } = await db.query<Sum & { balance: bigint }>({
    name: 'sum-further',
    text: `select a.tenant_id as tenant, a.balance, coalesce(a.last_seq, 0) as seq,
                  (known.sum + coalesce((select sum(p.amount) from postings p
                    where p.tenant_id = a.tenant_id and p.seq > known.seq and p.seq <= a.last_seq), 0))::bigint
                    as sum
             from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as known (tenant_id, seq, sum)
             join accounts a on a.tenant_id = known.tenant_id`,
    values: [sums.map((each) => each.tenant), sums.map((each) => each.seq), sums.map((each) => each.sum)],
  });
  return rows;
}

/** Sequence numbers without gaps, balances that follow from each other, times that do not go back. */
export async function compareChains(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select tenant, 'posting ' || seq as what, expected, found from (
       select tenant_id as tenant, seq,
              format('seq %s, balance %s, before it %s, not before %s', row_number() over w, sum(amount) over w,
                     sum(amount) over w - amount, greatest(at, lag(at) over w)) as expected,
              format('seq %s, balance %s, before it %s, not before %s', seq, balance, balance_before, at) as found
         from postings window w as (partition by tenant_id order by seq)) as chain
      where expected <> found limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}

/** Usage postings against what their records add up to. */
export async function comparePostings(
  db: Db,
  { sums, from, to }: Slice<PostingSum, PostingKey>,
): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `with kept as materialized (
       select tenant_id, seq, records, amount, kind from postings
        where records is not null and (tenant_id, seq) >= ($3, $4) and (tenant_id, seq) < ($5, $6)
     ), summed as (
       select * from json_to_recordset($2) as s (tenant bigint, seq bigint, records bigint, amount numeric)
     )
     select coalesce(p.tenant_id, r.tenant) as tenant, 'records of posting ' || coalesce(p.seq, r.seq) as what,
            format('%s records, %s micros', coalesce(r.records, 0), coalesce(r.amount, 0)) as expected,
            format('%s records, %s micros', coalesce(p.records, 0), coalesce(-p.amount, 0)) as found
       from kept p full join summed r on r.tenant = p.tenant_id and r.seq = p.seq
      where p.records is distinct from r.records or (p.kind = 'usage' and -p.amount is distinct from r.amount)
         or p.seq is null
      limit $1`,
    [DIFFERENCES_MAX, toJson(sums), ...from, ...to],
  );
  return rows;
}

/** Whole numbers of any size become texts. */
export function toJson(rows: readonly object[]): string {
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** Payments against the credit that the ledger booked for them, less reversals. */
export async function comparePayments(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select coalesce(p.tenant_id, l.tenant_id) as tenant, 'payment ' || coalesce(p.id, l.payment_id) as what,
            coalesce(p.credited - p.reversed, 0)::text as expected, coalesce(l.sum, 0)::text as found
       from payments p
       full join (select tenant_id, payment_id, sum(amount) from postings
                   where payment_id is not null group by tenant_id, payment_id) as l
              on l.tenant_id = p.tenant_id and l.payment_id = p.id
      where p.credited - p.reversed is distinct from l.sum limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}

/** The reversed credit of each payment against its refunds and disputes: their share without tax. */
export async function compareReversals(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select p.tenant_id as tenant, 'reversals of payment ' || p.id as what,
            due.reversed::text as expected, p.reversed::text as found
       from payments p
       cross join lateral (select coalesce(sum(amount), 0) as sum from (
              select amount from refunds where payment_id = p.id and status = any($2)
              union all
              select greatest(withdrawn - reinstated, 0) from disputes where payment_id = p.id) as each
            ) as taken
       cross join lateral (
              select least(p.credited, div(taken.sum * p.credited, p.credited + p.tax)) as reversed) as due
      where p.reversed <> due.reversed limit $1`,
    [DIFFERENCES_MAX, REFUND_TAKES],
  );
  return rows;
}

/** Corrections against the postings that they were made by. */
export async function compareCorrections(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select coalesce(p.tenant_id, c.tenant_id) as tenant, 'correction of posting ' || coalesce(p.seq, c.posting_seq) as what,
            coalesce(c.amount, 0)::text as expected, coalesce(p.amount, 0)::text as found
       from (select tenant_id, seq, amount from postings where kind = 'correction') as p
       full join corrections c on c.tenant_id = p.tenant_id and c.posting_seq = p.seq
      where p.amount is distinct from c.amount limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}

/** Grants, less what was left at their ends, against their postings. */
export async function compareGrants(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select coalesce(g.tenant_id, p.tenant_id) as tenant, 'grant ' || coalesce(g.id, p.reference) as what,
            coalesce(g.amount - g.forfeited, 0)::text as expected, coalesce(p.sum, 0)::text as found
       from grants g
       full join (select tenant_id, reference, sum(amount) from postings
                   where kind in ('grant', 'grant_expired', 'grant_voided') group by tenant_id, reference) as p
              on p.tenant_id = g.tenant_id and p.reference = g.id
      where g.amount - g.forfeited is distinct from p.sum limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}

/** The carry of each account against the carry of its newest charge. */
export async function compareCarries(db: Db, initialCarry: bigint): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select * from (
       select a.tenant_id as tenant, 'carry' as what,
              coalesce((select p.carry from postings p where p.tenant_id = a.tenant_id and p.kind = 'usage'
                         order by p.seq desc limit 1), $2)::text as expected,
              a.carry::text as found
         from accounts a) as account
      where expected <> found limit $1`,
    [DIFFERENCES_MAX, initialCarry],
  );
  return rows;
}

/** The status of each tenant against its history, and each change against the one before. */
export async function compareStatuses(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select tenant_id as tenant, what, expected, found from (
       select tenant_id, 'status before ' || at as what, old_status as found,
              coalesce(lag(new_status) over (partition by tenant_id order by at), 'pending') as expected
         from tenant_status_changes
       union all
       select t.id, 'status', t.status,
              coalesce((select new_status from tenant_status_changes c where c.tenant_id = t.id
                         order by at desc limit 1), 'pending')
         from tenants t) as status
      where found <> expected limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}

/** How far each account is archived against its newest chunk. Behind it, archived ids would be charged again. */
export async function compareArchived(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select * from (
       select a.tenant_id as tenant, 'last archived posting' as what,
              coalesce((select max(last_seq) from record_chunks c where c.tenant_id = a.tenant_id), 0)::text as expected,
              a.archived_seq::text as found
         from accounts a) as account
      where expected <> found limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}

export interface LedgerSize {
  readonly tenants: bigint;
  readonly postings: bigint;
  readonly records: bigint;
}

/** Counts tenants and postings. The number of records is the sum that the postings state. */
export async function measureLedger(db: Db): Promise<LedgerSize> {
  const { rows } = await db.query<LedgerSize>(
    `select a.tenants, p.postings, p.records
       from (select count(*) as tenants from accounts) as a,
            (select count(*) as postings, coalesce(sum(records), 0)::bigint as records from postings) as p`,
  );
  return rows[0]!;
}
