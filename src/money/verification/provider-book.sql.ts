/** What we have booked of the provider's payments, their tax, refunds and disputes. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { REFUND_TAKES } from '../reversals/reversal.ts';

export interface Booked {
  readonly id: string;
  readonly tenant: TenantId;
  /** The payment itself, or the one that is reversed. */
  readonly paymentId: string;
  /** Micros as the provider counts them: paid with tax, taken back with tax; or the tax of the payment. */
  readonly amount: bigint;
}

export type BookedKind = 'payment' | 'tax' | 'refund' | 'dispute';

export interface Period {
  readonly since: Date;
  readonly until: Date;
}

/** Each selects the columns of `Booked`, `changed_at`, and whether the provider may still change it. */
const BOOKED: Readonly<Record<BookedKind, string>> = {
  payment: `select id, tenant_id as tenant, id as "paymentId", credited + tax as amount,
                   settled_at as changed_at, false as is_open from payments`,
  tax: `select id, tenant_id as tenant, id as "paymentId", tax as amount, settled_at as changed_at,
               false as is_open from payments where tax > 0`,
  refund: `select r.id, p.tenant_id as tenant, p.id as "paymentId",
                  case when r.status in ('${REFUND_TAKES.join("', '")}') then r.amount else 0 end as amount,
                  r.changed_at, not r.final and r.status <> 'succeeded' as is_open
             from refunds r join payments p on p.id = r.payment_id`,
  dispute: `select d.id, p.tenant_id as tenant, p.id as "paymentId",
                   greatest(d.withdrawn - d.reinstated, 0) as amount, d.changed_at, d.outcome is null as is_open
              from disputes d join payments p on p.id = d.payment_id`,
};

const COLUMNS = 'id, tenant, "paymentId", amount';

export async function findBooked(db: Db, kind: BookedKind, ids: readonly string[]): Promise<Booked[]> {
  const { rows } = await db.query<Booked>(
    `select ${COLUMNS} from (${BOOKED[kind]}) as booked where id = any($1)`,
    [ids],
  );
  return rows;
}

/** The next ones by id. With a period: those that changed in it, and those that are still open. */
export async function listBookedAfter(
  db: Db,
  kind: BookedKind,
  { after, limit, period }: { after: string; limit: number; period: Period | undefined },
): Promise<Booked[]> {
  const inPeriod = period ? 'and (changed_at between $3 and $4 or is_open)' : '';
  const { rows } = await db.query<Booked>(
    `select ${COLUMNS} from (${BOOKED[kind]}) as booked where id > $1 ${inPeriod} order by id limit $2`,
    [after, limit, ...(period ? [period.since, period.until] : [])],
  );
  return rows;
}
