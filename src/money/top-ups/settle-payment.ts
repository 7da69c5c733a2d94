/**
 * Credit a successful payment, once. The answer to our own call, a provider event and the sweeper all
 * lead here; the unique id of the payment prevents a second credit.
 */
import type Stripe from 'stripe';
import type { Tx } from '../../base/db/pool.ts';
import { parseTenantId, renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { microsOfCents } from '../amount.ts';
import type { Checkout } from '../checkouts/checkout.ts';
import { advanceCheckout, findCheckout } from '../checkouts/checkouts.sql.ts';
import { appendPosting, findPostingTime } from '../ledger/ledger.sql.ts';
import { type ParkedPayment, releaseParkedEvents } from '../parked/parked-events.sql.ts';
import type { Payment } from '../payments/payment.ts';
import { findPayment, insertPayment, notePaid, saveCard, updateSettledAt } from '../payments/payments.sql.ts';
import { readCardDetails, type SavedCard } from '../payments/saved-card.ts';
import { endHold, freeze, holdTopUps } from '../payments/top-up-stops.sql.ts';
import { applyReversals } from '../reversals/apply-reversals.ts';
import { findReasonsToFreeze } from '../reversals/reversals.sql.ts';
import { tellDisputes } from '../reversals/tell-disputes.ts';
import { activate } from '../tenant-status/change-status.ts';
import { clearBreaker } from './card-breakers.sql.ts';
import { findAttempt, finishAttempt } from './top-up-attempts.sql.ts';
import { topUpSucceeded } from './top-up-events.ts';
import type { TopUpOutcome } from './top-up-outcome.ts';

/**
 * The result of a provider event. An operator has to look at `parked` ones. `topUp` goes into the metrics.
 */
export type Handled =
  | { readonly outcome: 'processed'; readonly topUp?: TopUpOutcome | undefined }
  | Unprocessed;

interface Unprocessed {
  readonly outcome: 'ignored' | 'parked';
  readonly reason: string;
  /** Not credited here. */
  readonly payment?: ParkedPayment | undefined;
  /** A deleted tenant paid: an operator has to give the money back. */
  readonly isPaidByDeleted?: boolean;
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

/** The page could not be closed in time. Credit would be of no use to a tenant that never comes back. */
function parkedForDeleted({ id }: Stripe.PaymentIntent, tenant: TenantId): Handled {
  const reason = `payment ${id} was made for ${renderTenantId(tenant)}, which is deleted: refund it at the provider`;
  return { outcome: 'parked', reason, isPaidByDeleted: true };
}

/** Fetch the current state of a payment, with the card that paid it and the time of the charge. */
export function fetchPayment(stripe: Stripe, paymentId: string): Promise<Stripe.PaymentIntent> {
  return stripe.paymentIntents.retrieve(paymentId, { expand: ['payment_method', 'latest_charge'] });
}

/** The tenant of a payment, and our row that it was made for. */
interface Origin {
  readonly tenant: TenantId;
  readonly checkout?: Checkout;
  readonly attemptId?: string;
}

/** A payment as the provider has it. */
export interface ProviderPayment {
  /**
   * From the provider itself, never from a client, with `payment_method` expanded; for the payment of a
   * checkout, `latest_charge` too.
   */
  readonly intent: Stripe.PaymentIntent;
  /** Micros of the amount that are tax (`find-tax.ts`). */
  readonly tax: bigint;
}

export async function settlePayment(tx: Tx, payment: ProviderPayment): Promise<Handled> {
  const { intent } = payment;
  if (intent.status !== 'succeeded') return { outcome: 'ignored', reason: `payment is ${intent.status}` };
  if (intent.currency !== 'usd') return parked(`payment ${intent.id} is in ${intent.currency}, not usd`);

  const origin = await findOrigin(tx, intent);
  if (!origin)
    return parkPayment(tx, intent, `payment ${intent.id} belongs to no checkout or top-up of ours`);
  return credit(tx, payment, origin);
}

/** Metadata only names our row. The row is the proof: it was written before the payment existed. */
async function findOrigin(tx: Tx, intent: Stripe.PaymentIntent): Promise<Origin | undefined> {
  const { tenant: named, checkout: checkoutId, attempt: attemptId } = intent.metadata;
  const checkout = checkoutId ? await findCheckout(tx, checkoutId) : undefined;
  const attempt = attemptId && !checkoutId ? await findAttempt(tx, attemptId) : undefined;
  const tenant = (checkout ?? attempt)?.tenant;
  if (tenant === undefined || tenant !== parseTenantId(named ?? '')) return undefined;
  return { tenant, ...(checkout ? { checkout } : { attemptId: attempt!.id }) };
}

async function credit(tx: Tx, { intent, tax }: ProviderPayment, origin: Origin): Promise<Handled> {
  const account = await lockAccount(tx, origin.tenant);
  if (account.status === 'deleted' && origin.checkout) return parkedForDeleted(intent, origin.tenant);
  const card = cardOf(intent);
  const payment: Payment = {
    id: intent.id,
    tenant: origin.tenant,
    kind: origin.attemptId ? 'auto_top_up' : 'top_up',
    credited: microsOfCents(intent.amount_received) - tax,
    tax,
    reversed: 0n,
  };
  const isFirst = await insertPayment(tx, {
    ...payment,
    attemptId: origin.attemptId,
    checkoutId: origin.checkout?.id,
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
  await updateSettledAt(tx, payment.id, await findPostingTime(tx, origin.tenant, credited.lastSeq));
  await appendEvents(tx, origin.tenant, [
    topUpSucceeded({
      automatic: payment.kind === 'auto_top_up',
      amount: payment.credited,
      paymentId: payment.id,
    }),
  ]);
  await notePaid(tx, origin.tenant);
  if (card) await clearBreaker(tx, card.fingerprint);
  if (origin.checkout) await settleCheckout(tx, origin.checkout, intent, card);
  if (origin.attemptId) await finishAttempt(tx, origin.attemptId, 'succeeded', { paymentId: payment.id });
  await endHold(tx, origin.tenant, payment.id);
  await releaseParkedEvents(tx, payment.id);
  // A refund, a dispute or a warning may have arrived before the payment.
  for (const reason of await findReasonsToFreeze(tx, payment.id)) await freeze(tx, origin.tenant, reason);
  await tellDisputes(tx, payment);
  await applyReversals(tx, credited, payment, { kind: 'refund', id: payment.id });
  return { outcome: 'processed', topUp: { kind: payment.kind, outcome: 'succeeded' } };
}

async function settleCheckout(
  tx: Tx,
  { id, tenant, createdAt, member }: Checkout,
  intent: Stripe.PaymentIntent,
  card: SavedCard | undefined,
): Promise<void> {
  await advanceCheckout(tx, id, 'paid');
  const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null;
  const paidAt = new Date((charge ?? intent).created * 1000);
  if (card) await saveCard(tx, tenant, card, { paidAt, checkoutAt: createdAt, member });
}

/** The card of the payment, if it is a card that may be charged again. */
function cardOf(intent: Stripe.PaymentIntent): SavedCard | undefined {
  const method = intent.payment_method;
  const customerId = typeof intent.customer === 'string' ? intent.customer : intent.customer?.id;
  if (!method || typeof method === 'string' || !method.card?.fingerprint || !customerId) return undefined;
  if (!method.customer) return undefined;
  const { fingerprint } = method.card;
  return { customerId, paymentMethodId: method.id, fingerprint, details: readCardDetails(method) };
}
