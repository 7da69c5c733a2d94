/**
 * Compares the provider's payments with those credited here, both ways.
 *
 * A payment whose provider event has not arrived yet shows as a difference: run it again a little later.
 */
import type Stripe from 'stripe';
import type { Db } from '../../base/db/pool.ts';
import { parseTenantId, renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { displayMicros, microsOfCents } from '../amount.ts';
import { findPayments, listPaymentsAfter, type Payment } from '../payments/payments.sql.ts';
import type { Difference } from './verify.sql.ts';

const PAGE = 100;

/** Keeps only the ids of our payments in memory. */
export async function* compareWithProvider(db: Db, stripe: Stripe): AsyncGenerator<Difference> {
  const seen = new Set<string>();
  for await (const intents of pagesOf(stripe.paymentIntents.list({ limit: PAGE }))) {
    const ours = intents.filter((intent) => intent.status === 'succeeded' && tenantOf(intent) !== undefined);
    const found = await findPayments(
      db,
      ours.map((intent) => intent.id),
    );
    const credited = new Map(found.map((payment) => [payment.id, payment]));
    for (const intent of ours) {
      seen.add(intent.id);
      const difference = compareOne(intent, credited.get(intent.id));
      if (difference) yield difference;
    }
  }
  yield* listUnknown(db, seen);
}

async function* pagesOf(
  intents: AsyncIterable<Stripe.PaymentIntent>,
): AsyncGenerator<Stripe.PaymentIntent[]> {
  let page: Stripe.PaymentIntent[] = [];
  for await (const intent of intents) {
    page.push(intent);
    if (page.length === PAGE) {
      yield page;
      page = [];
    }
  }
  yield page;
}

/** Other systems may share the provider account. Our payments name their tenant in the metadata. */
function tenantOf({ metadata }: Stripe.PaymentIntent): TenantId | undefined {
  return metadata.checkout || metadata.attempt ? parseTenantId(metadata.tenant ?? '') : undefined;
}

function compareOne(intent: Stripe.PaymentIntent, found: Payment | undefined): Difference | undefined {
  const tenant = tenantOf(intent)!;
  const expected = describe({ tenant, credited: microsOfCents(intent.amount_received) });
  const shown = found ? describe(found) : 'not credited';
  return shown === expected
    ? undefined
    : { tenant, what: `payment ${intent.id} at the provider`, expected, found: shown };
}

function describe({ tenant, credited }: Pick<Payment, 'tenant' | 'credited'>): string {
  return `${displayMicros(credited)} for ${renderTenantId(tenant)}`;
}

/** Credited payments that the provider does not know. */
async function* listUnknown(db: Db, known: ReadonlySet<string>): AsyncGenerator<Difference> {
  let after = '';
  for (;;) {
    const payments = await listPaymentsAfter(db, after, PAGE);
    for (const payment of payments) {
      if (known.has(payment.id)) continue;
      yield {
        tenant: payment.tenant,
        what: `payment ${payment.id} at the provider`,
        expected: 'no such payment',
        found: describe(payment),
      };
    }
    if (payments.length < PAGE) return;
    after = payments.at(-1)!.id;
  }
}
