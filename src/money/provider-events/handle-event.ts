/**
 * Applies the events of the provider.
 *
 * Source: specification 4.13. Provider events come late, twice, in any order, and before the answer to
 * our own call. So one transaction stores the event with its effect; effects are keyed by the ids of
 * payments, refunds and disputes, not by the id of the event; and payments, refunds, disputes and
 * warnings are fetched from the provider, not taken from the event.
 */
import type Stripe from 'stripe';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { assert } from '../../base/lib/assert.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { forgetCardDetails } from '../cards/saved-cards.sql.ts';
import type { CheckoutState } from '../checkouts/checkout.ts';
import { advanceCheckout } from '../checkouts/checkouts.sql.ts';
import { findTax } from '../checkouts/find-tax.ts';
import { alarmIfOutOfRange } from '../ledger/balance-range.ts';
import type { LedgerMetrics } from '../ledger/ledger-metrics.ts';
import { findPayment, forgetCard, forgetCustomer, updateCardFingerprint } from '../payments/payments.sql.ts';
import { findAtProvider, type Provider } from '../payments/provider.ts';
import { freeze, unfreeze } from '../payments/top-up-stops.sql.ts';
import { applyReversals } from '../reversals/apply-reversals.ts';
import { idOf, readDispute, readFraudWarning, readRefund } from '../reversals/reversal.ts';
import { insertFraudWarning, upsertDispute, upsertRefund } from '../reversals/reversals.sql.ts';
import { tellDisputes } from '../reversals/tell-disputes.ts';
import { cancelAttempt, PAYMENT_CANCELED } from '../top-ups/cancel-attempt.ts';
import { declineAttempt } from '../top-ups/decline-attempt.ts';
import {
  fetchPayment,
  type Handled,
  PROCESSED,
  type ProviderPayment,
  parked,
  settlePayment,
} from '../top-ups/settle-payment.ts';
import { findAttempt } from '../top-ups/top-up-attempts.sql.ts';
import { topUpFailed } from '../top-ups/top-up-events.ts';
import type { TopUpDeps } from '../top-ups/top-up-outcome.ts';
import { countTopUp } from '../top-ups/top-up-outcome.ts';
import { findShapeFault, readEnvelope } from './event-shape.ts';
import type { ProviderEventMetrics } from './provider-event-metrics.ts';
import { insertEvent, updateEventOutcome } from './provider-events.sql.ts';

export interface ProviderEventDeps extends TopUpDeps {
  readonly metrics: TopUpDeps['metrics'] & LedgerMetrics & ProviderEventMetrics;
}

/** The types that we handle, subscribe to and sweep. The provider lists at most 20 types at once. */
export const EVENT_TYPES = [
  'checkout.session.completed',
  'checkout.session.async_payment_succeeded',
  'checkout.session.async_payment_failed',
  'checkout.session.expired',
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'payment_intent.requires_action',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
  'charge.dispute.closed',
  'radar.early_fraud_warning.created',
  'payment_method.detached',
  'payment_method.updated',
  'payment_method.automatically_updated',
  'customer.deleted',
] as const;

const CHECKOUT_FAILED = 'The payment of a checkout failed [async_payment_failed].';

/** The database part of a provider event, run after everything was fetched from the provider. */
type Effect = (tx: Tx) => Promise<Handled>;

/**
 * Apply one provider event, at most once. An error rolls everything back, so that it can be redelivered.
 * `again`: a parked event is applied, too. Returns undefined if it was handled before.
 */
export async function handleEvent(
  deps: ProviderEventDeps,
  provider: Provider,
  event: Stripe.Event,
  options: { again?: boolean } = {},
): Promise<Handled | undefined> {
  const isOtherMode = event.livemode === !provider.livemode;
  const fault = findShapeFault(event);
  const effect = isOtherMode
    ? async () => parked(`livemode is ${event.livemode}, which is not that of our key`)
    : fault
      ? async () => parked(`it cannot be read: ${fault}`)
      : await effectOf(deps, provider, event);
  const envelope = readEnvelope(event);
  assert(envelope, 'an event has an id');
  const handled = await inTransaction(deps.db, async (tx) => {
    if (!(await insertEvent(tx, envelope, options))) return undefined;
    const done = await effect(tx);
    if (done.outcome !== 'processed') await updateEventOutcome(tx, event.id, done);
    return done;
  }).catch((error: unknown) => {
    alarmIfOutOfRange(deps, error);
    throw error;
  });
  countTopUp(deps, handled?.topUp);
  if (handled?.outcome === 'parked') {
    deps.log.warn({ event: event.id, type: envelope.type, reason: handled.reason }, 'provider event parked');
    if (handled.isPaidByDeleted) alarmOfDeleted(deps, handled.reason);
  }
  return handled;
}

function alarmOfDeleted(deps: ProviderEventDeps, reason: string): void {
  deps.metrics.deletedTenantPayments.inc();
  deps.log.error({ reason }, 'a deleted tenant has paid');
}

const ignore: Effect = async () => ({ outcome: 'ignored', reason: 'not acted upon' });

async function effectOf(deps: ProviderEventDeps, provider: Provider, event: Stripe.Event): Promise<Effect> {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paidSession(deps, provider, event.data.object);
    case 'checkout.session.async_payment_failed':
      return checkoutMoved(event.data.object, 'failed');
    case 'checkout.session.expired':
      return checkoutMoved(event.data.object, 'expired');
    case 'payment_intent.succeeded':
      return succeeded(deps, provider, event.data.object.id);
    case 'payment_intent.payment_failed':
    case 'payment_intent.canceled':
    case 'payment_intent.requires_action':
      return paymentFailed(event.data.object);
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return refunded(deps, provider, event.data.object.id);
    case 'charge.dispute.created':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
    case 'charge.dispute.closed':
      return disputed(deps, provider, event.data.object.id);
    case 'radar.early_fraud_warning.created':
      return fraudWarned(deps, provider, event.data.object.id);
    case 'payment_method.detached':
      return cardDetached(event.data.object);
    case 'payment_method.updated':
    case 'payment_method.automatically_updated':
      return cardUpdated(event.data.object);
    case 'customer.deleted':
      return customerDeleted(event.data.object.id);
    default:
      return ignore;
  }
}

async function paidSession(
  deps: ProviderEventDeps,
  provider: Provider,
  session: Stripe.Checkout.Session,
): Promise<Effect> {
  const paymentId = idOf(session.payment_intent);
  if (session.payment_status !== 'paid' || !paymentId) return checkoutMoved(session, 'processing');
  return succeeded(deps, provider, paymentId);
}

function checkoutMoved(session: Stripe.Checkout.Session, state: CheckoutState): Effect {
  return async (tx) => {
    const id = session.metadata?.checkout;
    if (!id) return { outcome: 'ignored', reason: 'a checkout that is not ours' };
    const checkout = await advanceCheckout(tx, id, state);
    if (checkout && state === 'failed') {
      const { tenant, amount } = checkout;
      await appendEvents(tx, tenant, [topUpFailed({ automatic: false, amount, error: CHECKOUT_FAILED })]);
    }
    return PROCESSED;
  };
}

async function succeeded(deps: ProviderEventDeps, provider: Provider, paymentId: string): Promise<Effect> {
  const payment = await findAsPaid(deps, provider, paymentId);
  if (!payment) return notThere(`payment ${paymentId}`);
  return (tx) => settlePayment(tx, payment);
}

async function findAsPaid(
  { db }: ProviderEventDeps,
  provider: Provider,
  paymentId: string,
): Promise<ProviderPayment | undefined> {
  const intent = await findAtProvider(() => fetchPayment(provider.stripe, paymentId));
  return intent && { intent, tax: await findTax(db, provider, intent) };
}

function notThere(what: string): Effect {
  return async () => parked(`${what} is not there at the provider`);
}

/** Matters only until the answer to our own charge has arrived. */
function paymentFailed(intent: Stripe.PaymentIntent): Effect {
  return async (tx) => {
    const attempt = intent.metadata.attempt ? await findAttempt(tx, intent.metadata.attempt) : undefined;
    if (!attempt) return { outcome: 'ignored', reason: 'no automatic top-up' };
    if (intent.status === 'canceled') {
      return { outcome: 'processed', topUp: await cancelAttempt(tx, attempt, PAYMENT_CANCELED) };
    }
    const report = intent.last_payment_error ?? { code: 'authentication_required' as const };
    return { outcome: 'processed', topUp: await declineAttempt(tx, attempt, report, intent.id) };
  };
}

/**
 * An event about a payment that should be settled already.
 *
 * If it is not, settle it first: the event of its success is late or lost. The account lock serializes
 * concurrent settlements, so that neither misses what the other has just stored.
 */
async function aboutPayment(
  deps: ProviderEventDeps,
  provider: Provider,
  { id, paymentId }: { id: string; paymentId: string | undefined },
  effect: (tx: Tx, paymentId: string) => Promise<Handled>,
): Promise<Effect> {
  if (!paymentId) return async () => parked(`${id} names no payment`);
  const isKnown = (await findPayment(deps.db, paymentId)) !== undefined;
  const missing = isKnown ? undefined : await findAsPaid(deps, provider, paymentId);
  return async (tx) => {
    const settled = missing && (await settlePayment(tx, missing));
    const handled = await effect(tx, paymentId);
    // A payment that could not be settled is the cause, and names the tenant.
    return settled?.outcome === 'parked' ? settled : { ...handled, topUp: settled?.topUp };
  };
}

async function refunded(deps: ProviderEventDeps, provider: Provider, id: string): Promise<Effect> {
  const found = await findAtProvider(() => provider.stripe.refunds.retrieve(id));
  if (!found) return notThere(`refund ${id}`);
  const refund = readRefund(found);
  return aboutPayment(deps, provider, refund, async (tx, paymentId) => {
    await upsertRefund(tx, paymentId, refund);
    return reverse(tx, paymentId, { kind: 'refund', id });
  });
}

async function disputed(deps: ProviderEventDeps, provider: Provider, id: string): Promise<Effect> {
  const found = await findAtProvider(() => provider.stripe.disputes.retrieve(id));
  if (!found) return notThere(`dispute ${id}`);
  const dispute = readDispute(found);
  return aboutPayment(deps, provider, dispute, async (tx, paymentId) => {
    const { isFreezing, isNews } = await upsertDispute(tx, paymentId, dispute);
    // Only news freezes: an operator may have ended the freeze.
    const setFreeze = !isFreezing ? unfreeze : isNews ? freeze : undefined;
    return reverse(tx, paymentId, { kind: 'dispute', id }, setFreeze);
  });
}

async function fraudWarned(deps: ProviderEventDeps, provider: Provider, id: string): Promise<Effect> {
  const found = await findAtProvider(() => provider.stripe.radar.earlyFraudWarnings.retrieve(id));
  if (!found) return notThere(`fraud warning ${id}`);
  const warning = readFraudWarning(found);
  return aboutPayment(deps, provider, warning, async (tx, paymentId) => {
    await insertFraudWarning(tx, paymentId, warning);
    return reverse(tx, paymentId, { kind: 'dispute', id }, freeze);
  });
}

/** Bring the ledger up to date, tell the tenant, and freeze or unfreeze automatic top-ups for this cause. */
async function reverse(
  tx: Tx,
  paymentId: string,
  cause: { kind: 'refund' | 'dispute'; id: string },
  setFreeze?: typeof freeze | typeof unfreeze,
): Promise<Handled> {
  const found = await findPayment(tx, paymentId);
  if (!found) return parked(`payment ${paymentId} is not one of ours`, { id: paymentId });

  const account = await lockAccount(tx, found.tenant);
  // Read again under the lock: another provider event may have changed it.
  const payment = (await findPayment(tx, paymentId)) ?? found;
  await tellDisputes(tx, payment);
  await applyReversals(tx, account, payment, cause);
  await setFreeze?.(tx, found.tenant, cause.id);
  return PROCESSED;
}

function cardDetached(method: Stripe.PaymentMethod): Effect {
  return async (tx) => {
    await forgetCard(tx, method.id);
    return PROCESSED;
  };
}

/** What else changed is asked back, because an older event may come later (`learn-cards.ts`). */
function cardUpdated(method: Stripe.PaymentMethod): Effect {
  return async (tx) => {
    const fingerprint = method.card?.fingerprint;
    if (fingerprint) await updateCardFingerprint(tx, method.id, fingerprint);
    await forgetCardDetails(tx, method.id);
    return PROCESSED;
  };
}

function customerDeleted(customerId: string): Effect {
  return async (tx) => {
    await forgetCustomer(tx, customerId);
    return PROCESSED;
  };
}
