/** Lists of payments: their columns, and all of them as a stream. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { plainDollars } from '../../money/amount.ts';
import { listPayments } from '../../money/payments/list-payments.ts';
import type { ListedPayment, PaymentPeriod } from '../../money/payments/payment.ts';
import type { Columns, ItemStream } from './item-stream.ts';

/** Payments of one part of a stream. */
const STRETCH = 2_000;

export const PAYMENT_COLUMNS = {
  at: ({ settledAt }) => settledAt.toISOString(),
  id: ({ id }) => id,
  kind: ({ kind }) => kind,
  micros: ({ credited }) => credited,
  dollars: ({ credited }) => plainDollars(credited),
  tax_micros: ({ tax }) => tax,
  reversed_micros: ({ reversed }) => reversed,
} satisfies Columns<ListedPayment>;

export function paymentStream(
  db: Db,
  tenant: TenantId,
  period: PaymentPeriod,
): ItemStream<ListedPayment, string | null, ListedPayment> {
  return {
    start: null,
    render: (payment) => payment,
    read: async (after) => {
      const page = await listPayments(db, tenant, { ...period, after: after ?? undefined, size: STRETCH });
      return { items: page?.items ?? [], next: page?.end?.id };
    },
  };
}
