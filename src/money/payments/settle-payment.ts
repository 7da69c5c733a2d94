/**
 * Credit a successful payment, once. The answer to our own call, a provider event and the sweeper all
 * lead here; the unique id of the payment prevents a second credit.
 */
import type Stripe from 'stripe';
import type { Tx } from '../../base/db/pool.ts';
import { parseTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { microsOfCents } from '../amount.ts';
import { appendPosting, lockAccount } from '../ledger/ledger.sql.ts';
import { activate } from '../tenant-status/change-status.ts';
import { applyReversals } from './apply-reversals.ts';
import { clearBreaker } from './card-breakers.sql.ts';
import { topUpSucceeded } from './payment-events.ts';
import {
  advanceCheckout,
  endHold,
  findCheckout,
  findPayment,
  freeze,
  holdTopUps,
  insertPayment,
  notePaid,
  type Payment,
} from './payments.sql.ts';
import { type ParkedPayment, releaseParkedEvents } from './provider-events.sql.ts';
import { findReasonsToFreeze } from './reversals.sql.ts';
import { findAttempt, finishAttempt } from './top-up-attempts.sql.ts';
import type { TopUpOutcome } from './top-up-outcome.ts';

/** The result of a provider event. An operator has to look at `parked` ones. `topUp` goes into the metrics. */
export type Handled =
  | { readonly outcome: 'processed'; readonly topUp?: TopUpOutcome | undefined }
  | Unprocessed;

interface Unprocessed {
  readonly outcome: 'ignored' | 'parked';
  readonly reason: string;
  /** Not credited here. */
  readonly payment?: ParkedPayment | undefined;
  readonly topUp?: TopUpOutcome | undefined;
}

export const PROCESSED: Handled = { outcome: 'processed' };

/** `payment`: the payment that the event is about, which is not credited here. */
export function parked(reason: string, payment?: ParkedPayment): Unprocessed {
  return { outcome: 'parked', reason, payment };
}

/**
 * Park a payment that was made and cannot be credited. Automatic top-ups of the tenant that it names are
 * held: without the credit, the next usage would charge the card again.
 */
export async function parkPayment(
  tx: Tx,
  { id, metadata }: { id: string; metadata: Stripe.Metadata | null },
  reason: string,
): Promise<Handled> {
  const tenant = parseTenantId(metadata?.tenant ?? '');
  if (tenant === undefined || !(await findTenant(tx, tenant))) return parked(reason, { id });
  await lockAccount(tx, tenant);
  // An operator may have settled it while this transaction waited.
  if (await findPayment(tx, id)) return PROCESSED;
  await holdTopUps(tx, tenant, id);
  return parked(reason, { id, tenant });
}

/** Fetch the current state of a payment, with the card that paid it. */
export function fetchPayment(stripe: Stripe, paymentId: string): Promise<Stripe.PaymentIntent> {
  return stripe.paymentIntents.retrieve(paymentId, { expand: ['payment_method'] });
}

/** The tenant of a payment, and our row that it was made for. */
interface Origin {
  readonly tenant: TenantId;
  readonly checkoutId?: string;
  readonly attemptId?: string;
}

/** `intent` must come from the provider itself, never from a client, with `payment_method` expanded. */
export async function settlePayment(tx: Tx, intent: Stripe.PaymentIntent): Promise<Handled> {
  if (intent.status !== 'succeeded') return { outcome: 'ignored', reason: `payment is ${intent.status}` };
  if (intent.currency !== 'usd') return parked(`payment ${intent.id} is in ${intent.currency}, not usd`);

  const origin = await findOrigin(tx, intent);
  if (!origin)
    return parkPayment(tx, intent, `payment ${intent.id} belongs to no checkout or top-up of ours`);
  return credit(tx, intent, origin);
}

/** Metadata only names our row. The row is the proof: it was written before the payment existed. */
async function findOrigin(tx: Tx, intent: Stripe.PaymentIntent): Promise<Origin | undefined> {
  const { tenant, checkout, attempt } = intent.metadata;
  const named = parseTenantId(tenant ?? '');
  const row = checkout
    ? await findCheckout(tx, checkout)
    : attempt
      ? await findAttempt(tx, attempt)
      : undefined;
  if (!row || row.tenant !== named) return undefined;
  return { tenant: row.tenant, ...(checkout ? { checkoutId: checkout } : { attemptId: row.id }) };
}

async function credit(tx: Tx, intent: Stripe.PaymentIntent, origin: Origin): Promise<Handled> {
  const account = await lockAccount(tx, origin.tenant);
  const card = cardOf(intent);
  const payment: Payment = {
    id: intent.id,
    tenant: origin.tenant,
    kind: origin.attemptId ? 'auto_top_up' : 'top_up',
    credited: microsOfCents(intent.amount_received),
    reversed: 0n,
  };
  const isFirst = await insertPayment(tx, {
    ...payment,
    attemptId: origin.attemptId,
    checkoutId: origin.checkoutId,
    cardFingerprint: card?.fingerprint,
  });
  if (!isFirst) {
    const isSettled = (await findPayment(tx, payment.id)) !== undefined;
    if (isSettled) return PROCESSED;
    return parkPayment(tx, intent, `top-up ${origin.attemptId} was paid by another payment already`);
  }

  const credited = await appendPosting(tx, await activate(tx, account), {
    kind: payment.kind,
    amount: payment.credited,
    reference: payment.id,
    paymentId: payment.id,
  });
  await appendEvents(tx, origin.tenant, [
    topUpSucceeded({
      automatic: payment.kind === 'auto_top_up',
      amount: payment.credited,
      paymentId: payment.id,
    }),
  ]);
  await notePaid(tx, origin.tenant, origin.checkoutId ? card : undefined);
  if (card) await clearBreaker(tx, card.fingerprint);
  if (origin.checkoutId) await advanceCheckout(tx, origin.checkoutId, 'paid');
  if (origin.attemptId) await finishAttempt(tx, origin.attemptId, 'succeeded', { paymentId: payment.id });
  await endHold(tx, origin.tenant, payment.id);
  await releaseParkedEvents(tx, payment.id);
  // A refund, a dispute or a warning may have arrived before the payment.
  for (const reason of await findReasonsToFreeze(tx, payment.id)) await freeze(tx, origin.tenant, reason);
  await applyReversals(tx, credited, payment, { kind: 'refund', id: payment.id });
  return { outcome: 'processed', topUp: { kind: payment.kind, outcome: 'succeeded' } };
}

/** The card of the payment, if it is a card that may be charged again. */
function cardOf(
  intent: Stripe.PaymentIntent,
): { customerId: string; paymentMethodId: string; fingerprint: string } | undefined {
  const method = intent.payment_method;
  const customerId = typeof intent.customer === 'string' ? intent.customer : intent.customer?.id;
  if (!method || typeof method === 'string' || !method.card?.fingerprint || !customerId) return undefined;
  if (!method.customer) return undefined;
  return { customerId, paymentMethodId: method.id, fingerprint: method.card.fingerprint };
}
