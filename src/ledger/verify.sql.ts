/** SQL that adds everything up again, from the records to the balances. It shares nothing with charging. */
import type { Db } from '../db/pool.ts';
import type { TenantId } from '../tenants/tenant.ts';

export interface Difference {
  readonly tenant: TenantId;
  /** What was compared. */
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

/** Accounts against the sum of their postings. */
export async function compareBalances(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select a.tenant_id as tenant, 'balance' as what,
            coalesce(sum(p.amount), 0)::text as expected, a.balance::text as found
       from accounts a left join postings p on p.tenant_id = a.tenant_id
      group by a.tenant_id having coalesce(sum(p.amount), 0) <> a.balance`,
  );
  return rows;
}

/** The sum of a tenant's postings up to `seq`, in micros. */
export interface Sum {
  readonly tenant: TenantId;
  readonly seq: bigint;
  readonly sum: bigint;
}

/** Add what was posted since, and say what the account shows. */
export async function sumFurther(db: Db, sums: readonly Sum[]): Promise<(Sum & { balance: bigint })[]> {
  const { rows } = await db.query<Sum & { balance: bigint }>(
    `select a.tenant_id as tenant, a.balance, coalesce(a.last_seq, 0) as seq,
            (known.sum + coalesce((select sum(p.amount) from postings p
              where p.tenant_id = a.tenant_id and p.seq > known.seq and p.seq <= a.last_seq), 0))::bigint as sum
       from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as known (tenant_id, seq, sum)
       join accounts a on a.tenant_id = known.tenant_id`,
    [sums.map((each) => each.tenant), sums.map((each) => each.seq), sums.map((each) => each.sum)],
  );
  return rows;
}

/** Sequence numbers without gaps, balances that follow from each other, times that do not go back. */
export async function compareChains(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select tenant, 'posting ' || seq as what, expected, found from (
       select tenant_id as tenant, seq,
              format('seq %s, balance %s, not before %s', row_number() over w, sum(amount) over w,
                     greatest(at, lag(at) over w)) as expected,
              format('seq %s, balance %s, not before %s', seq, balance, at) as found
         from postings window w as (partition by tenant_id order by seq)) as chain
      where expected <> found`,
  );
  return rows;
}

/** Usage postings against the records that they stand for. */
export async function compareRecords(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select coalesce(p.tenant_id, r.tenant_id) as tenant,
            'records of posting ' || coalesce(p.seq, r.posting_seq) as what,
            format('%s records, %s micros', coalesce(r.count, 0), coalesce(r.sum, 0)) as expected,
            format('%s records, %s micros', coalesce(p.records, 0), coalesce(-p.amount, 0)) as found
       from (select tenant_id, seq, records, amount, kind from postings where records is not null) as p
       full join (select tenant_id, posting_seq, count(*), sum(amount) from usage_records
                   group by tenant_id, posting_seq) as r
              on r.tenant_id = p.tenant_id and r.posting_seq = p.seq
      where p.records is distinct from r.count or (p.kind = 'usage' and -p.amount is distinct from r.sum)
         or p.seq is null`,
  );
  return rows;
}

/** Payments against the credit that the ledger gave for them and took back. */
export async function comparePayments(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `select coalesce(p.tenant_id, l.tenant_id) as tenant, 'payment ' || coalesce(p.id, l.payment_id) as what,
            (p.credited - p.reversed)::text as expected, coalesce(l.sum, 0)::text as found
       from payments p
       full join (select tenant_id, payment_id, sum(amount) from postings
                   where payment_id is not null group by tenant_id, payment_id) as l
              on l.tenant_id = p.tenant_id and l.payment_id = p.id
      where p.credited - p.reversed is distinct from l.sum`,
  );
  return rows;
}

export interface CarryRow {
  readonly tenant: TenantId;
  readonly carry: bigint;
  readonly postedCarry: bigint | null;
}

/** The carry of each account beside the one that its newest charge left. */
export async function listCarries(db: Db): Promise<CarryRow[]> {
  const { rows } = await db.query<CarryRow>(
    `select a.tenant_id as tenant, a.carry,
            (select p.carry from postings p where p.tenant_id = a.tenant_id and p.kind = 'usage'
              order by p.seq desc limit 1) as "postedCarry"
       from accounts a`,
  );
  return rows;
}
