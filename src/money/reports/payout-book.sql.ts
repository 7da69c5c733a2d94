/** What is booked here, as the provider's balance should show it. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { endOf, type Month, startOf } from '../month.ts';
import { REFUND_TAKES } from '../reversals/reversal.ts';
import type { MovedKind } from './payout.ts';

export interface BookedMoney {
  readonly kind: MovedKind;
  readonly id: string;
  readonly tenant: TenantId;
  /** Micros that came into the balance by it, with tax. */
  readonly added: bigint;
  /** Micros that left the balance by it. */
  readonly removed: bigint;
}

/** A refund that fails is added again. `at`: when it was booked, or changed last. */
const BOOKED = `
  select 'payment' as kind, id, tenant_id as tenant, credited + tax as added, 0::bigint as removed,
         settled_at as at, true as moves
    from payments
   union all
  select 'refund', r.id, p.tenant_id, r.amount, r.amount, r.changed_at,
         r.status in ('${REFUND_TAKES.join("', '")}')
    from refunds r join payments p on p.id = r.payment_id
   union all
  select 'dispute', d.id, p.tenant_id, d.reinstated, d.withdrawn, d.changed_at, d.withdrawn > 0
    from disputes d join payments p on p.id = d.payment_id`;

const COLUMNS = 'kind, id, tenant, added, removed';

export async function findBookedMoney(db: Db, ids: readonly string[]): Promise<BookedMoney[]> {
  const { rows } = await db.query<BookedMoney>({
    name: 'find-booked-money',
    text: `select ${COLUMNS} from (${BOOKED}) as booked where id = any($1)`,
    values: [ids],
  });
  return rows;
}

/**
 * What was booked in the month and has moved money: the next ones by id. What is younger than an hour is left
 * out, because the provider writes some balance transactions later than it reports the payment.
 */
export async function listBookedMoney(
  db: Db,
  month: Month,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<BookedMoney[]> {
  const { rows } = await db.query<BookedMoney>({
    name: 'list-booked-money',
    text: `select ${COLUMNS} from (${BOOKED}) as booked
            where moves and at >= $1 and at < least($2, now() - interval '1 hour') and id > $3
            order by id limit $4`,
    values: [startOf(month), endOf(month), after, limit],
  });
  return rows;
}
