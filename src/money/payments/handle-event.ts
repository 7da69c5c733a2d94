/**
 * Applies the events of the provider.
 *
 * Source: specification 4.13. Provider events come late, twice, in any order, and before the answer to
 * our own call. So one transaction stores the event with its effect; effects are keyed by the ids of
 * payments, refunds and disputes, not by the id of the event; and the amount of a payment is fetched
 * from the provider, not taken from the event.
 */
import type Stripe from 'stripe';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { assert } from '../../base/lib/assert.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { microsOfCents } from '../amount.ts';
import { lockAccount } from '../ledger/ledger.sql.ts';
import { applyReversals } from './apply-reversals.ts';
import { cancelAttempt, PAYMENT_CANCELED } from './cancel-attempt.ts';
import type { CheckoutState } from './checkout.ts';
import { declineAttempt } from './decline-attempt.ts';
import { findShapeFault, readEnvelope } from './event-shape.ts';
import { topUpFailed } from './payment-events.ts';
import {
  advanceCheckout,
  findPayment,
  forgetCard,
  forgetCustomer,
  freeze,
  unfreeze,
  updateCardFingerprint,
} from './payments.sql.ts';
import { findAtProvider, type Provider } from './provider.ts';
import { insertEvent, updateEventOutcome } from './provider-events.sql.ts';
import { insertFraudWarning, upsertDispute, upsertRefund } from './reversals.sql.ts';
import { fetchPayment, type Handled, PROCESSED, parked, settlePayment } from './settle-payment.ts';
import { findAttempt } from './top-up-attempts.sql.ts';
import { countTopUp } from './top-up-outcome.ts';

/** The types that we handle, subscribe to and sweep. */
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
  deps: BaseDeps,
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
  });
  countTopUp(deps, handled?.topUp);
  if (handled?.outcome === 'parked') {
    deps.log.warn({ event: event.id, type: envelope.type, reason: handled.reason }, 'provider event parked');
  }
  return handled;
}

const ignore: Effect = async () => ({ outcome: 'ignored', reason: 'not acted upon' });

async function effectOf(deps: BaseDeps, provider: Provider, event: Stripe.Event): Promise<Effect> {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paidSession(provider, event.data.object);
    case 'checkout.session.async_payment_failed':
      return checkoutMoved(event.data.object, 'failed');
    case 'checkout.session.expired':
      return checkoutMoved(event.data.object, 'expired');
    case 'payment_intent.succeeded':
      return succeeded(provider, event.data.object.id);
    case 'payment_intent.payment_failed':
    case 'payment_intent.canceled':
    case 'payment_intent.requires_action':
      return paymentFailed(event.data.object);
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
      return refunded(deps, provider, event.data.object);
    case 'charge.dispute.created':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
    case 'charge.dispute.closed':
      return disputed(deps, provider, event.type, event.data.object);
    case 'radar.early_fraud_warning.created':
      return fraudWarned(deps, provider, event.data.object);
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

function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === 'string' ? reference : reference?.id;
}

async function paidSession(provider: Provider, session: Stripe.Checkout.Session): Promise<Effect> {
  const paymentId = idOf(session.payment_intent);
  if (session.payment_status !== 'paid' || !paymentId) return checkoutMoved(session, 'processing');
  return succeeded(provider, paymentId);
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

async function succeeded(provider: Provider, paymentId: string): Promise<Effect> {
  const intent = await findAtProvider(() => fetchPayment(provider.stripe, paymentId));
  if (!intent) return async () => parked(`payment ${paymentId} is not there at the provider`);
  return (tx) => settlePayment(tx, intent);
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
  deps: BaseDeps,
  provider: Provider,
  object: { id: string; payment_intent: string | { id: string } | null },
  effect: (tx: Tx, paymentId: string) => Promise<Handled>,
): Promise<Effect> {
  const paymentId = idOf(object.payment_intent);
  if (!paymentId) return async () => parked(`${object.id} names no payment`);
  const isKnown = (await findPayment(deps.db, paymentId)) !== undefined;
  const missing = isKnown ? undefined : await findAtProvider(() => fetchPayment(provider.stripe, paymentId));
  return async (tx) => {
    const settled = missing && (await settlePayment(tx, missing));
    const handled = await effect(tx, paymentId);
    // A payment that could not be settled is the cause, and names the tenant.
    return settled?.outcome === 'parked' ? settled : { ...handled, topUp: settled?.topUp };
  };
}

function refunded(deps: BaseDeps, provider: Provider, refund: Stripe.Refund): Promise<Effect> {
  return aboutPayment(deps, provider, refund, async (tx, paymentId) => {
    await upsertRefund(tx, {
      id: refund.id,
      paymentId,
      amount: microsOfCents(refund.amount),
      status: refund.status ?? 'pending',
    });
    return reverse(tx, paymentId, { kind: 'refund', id: refund.id });
  });
}

type DisputeEventType = Extract<(typeof EVENT_TYPES)[number], `charge.dispute.${string}`>;

function disputed(
  deps: BaseDeps,
  provider: Provider,
  type: DisputeEventType,
  dispute: Stripe.Dispute,
): Promise<Effect> {
  return aboutPayment(deps, provider, dispute, async (tx, paymentId) => {
    const { outcome } = await upsertDispute(tx, {
      id: dispute.id,
      paymentId,
      amount: microsOfCents(dispute.amount),
      withdrawn: type === 'charge.dispute.funds_withdrawn',
      reinstated: type === 'charge.dispute.funds_reinstated',
      outcome: type === 'charge.dispute.closed' ? outcomeOf(dispute) : null,
    });
    const isOver = outcome === 'won' || outcome === 'closed';
    return reverse(tx, paymentId, { kind: 'dispute', id: dispute.id }, isOver ? unfreeze : freeze);
  });
}

/** `closed` is the end of an inquiry or a warning, which neither side lost. */
function outcomeOf({ status }: Stripe.Dispute): 'won' | 'lost' | 'closed' {
  if (status === 'won') return 'won';
  return status === 'lost' ? 'lost' : 'closed';
}

function fraudWarned(
  deps: BaseDeps,
  provider: Provider,
  warning: Stripe.Radar.EarlyFraudWarning,
): Promise<Effect> {
  const object = { id: warning.id, payment_intent: warning.payment_intent ?? null };
  return aboutPayment(deps, provider, object, async (tx, paymentId) => {
    await insertFraudWarning(tx, warning.id, paymentId);
    return reverse(tx, paymentId, { kind: 'dispute', id: warning.id }, freeze);
  });
}

/** Bring the ledger up to date, and freeze or unfreeze automatic top-ups for this cause. */
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

function cardUpdated(method: Stripe.PaymentMethod): Effect {
  return async (tx) => {
    const fingerprint = method.card?.fingerprint;
    if (fingerprint) await updateCardFingerprint(tx, method.id, fingerprint);
    return PROCESSED;
  };
}

function customerDeleted(customerId: string): Effect {
  return async (tx) => {
    await forgetCustomer(tx, customerId);
    return PROCESSED;
  };
}
