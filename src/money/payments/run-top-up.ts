/**
 * Run one automatic top-up that is due: check again, charge the saved card, record the outcome.
 *
 * The attempt's id is the idempotency key. If the outcome is unknown (a timeout, a broken connection, an
 * error of the provider), the charge is repeated with the same key, so that the card is charged at most
 * once. A second attempt is never opened for it.
 */
import Stripe from 'stripe';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { centsOfMicros } from '../amount.ts';
import { lockAccount } from '../ledger/ledger.sql.ts';
import { cancelAttempt, closeAsCanceled, PAYMENT_CANCELED } from './cancel-attempt.ts';
import { findCardHold, type Hold } from './card-backoff.ts';
import type { DeclineReport } from './decline.ts';
import { declineAttempt } from './decline-attempt.ts';
import { noteFailedTopUp } from './note-failed-top-up.ts';
import { findAutoTopUpTime, findPaymentSettings, forgetCard, forgetCustomer } from './payments.sql.ts';
import { isCustomerGone, type Provider } from './provider.ts';
import { fetchPayment, settlePayment } from './settle-payment.ts';
import { type Attempt, claimDueAttempt, findAttempt, markSent, postpone } from './top-up-attempts.sql.ts';
import { countTopUp, type TopUpOutcome } from './top-up-outcome.ts';

const RETRY_SECONDS_MAX = 30;

/** The provider may forget an idempotency key after 24 hours. After this time we look the charge up instead. */
const RESEND_SECONDS_MAX = 23 * 3600;

/** Limits of successful automatic top-ups, so that a leaked relay key cannot empty a bank account. */
const VELOCITY_CAPS = [
  { count: 3, seconds: 600, name: '3 within 10 minutes' },
  { count: 24, seconds: 86_400, name: '24 within a day' },
] as const;

/** Run the automatic top-ups that are due now, one after the other. */
export async function runDueTopUps(deps: BaseDeps, provider: Provider): Promise<void> {
  while (await runDueTopUp(deps, provider));
}

/** Returns whether an attempt was due. */
export async function runDueTopUp(deps: BaseDeps, provider: Provider): Promise<boolean> {
  const claimed = await claimDueAttempt(deps.db);
  if (!claimed) return false;

  const attempt = claimed.state === 'pending' ? await prepare(deps, claimed) : claimed;
  if (!attempt) return true;
  if (attempt.paymentId) await follow(deps, provider, attempt, attempt.paymentId);
  else if (attempt.ageSeconds > RESEND_SECONDS_MAX) await lookUp(deps, provider, attempt);
  else await send(deps, provider, attempt);
  return true;
}

/**
 * The last check before the charge. Returns the attempt with the card to charge, or undefined if it was
 * canceled because a charge is no longer needed or allowed.
 */
async function prepare(deps: BaseDeps, claimed: Attempt): Promise<Attempt | undefined> {
  type Prepared = { readonly attempt?: Attempt | undefined; readonly canceled?: TopUpOutcome | undefined };
  const { attempt, canceled } = await inTransaction(deps.db, async (tx): Promise<Prepared> => {
    const account = await lockAccount(tx, claimed.tenant);
    const settings = await findPaymentSettings(tx, claimed.tenant);
    const { customerId, paymentMethodId, cardFingerprint } = settings;
    const isDue = account.topUpBelow !== null && account.balance < account.topUpBelow;
    if (!isDue || !customerId || !paymentMethodId) {
      return { canceled: await closeAsCanceled(tx, claimed, 'no longer due') };
    }
    const hold =
      (await velocityHold(tx, claimed)) ??
      (cardFingerprint ? await findCardHold(tx, cardFingerprint) : undefined);
    if (hold) {
      await noteFailedTopUp(tx, claimed, hold.error, hold.until);
      return { canceled: await closeAsCanceled(tx, claimed, hold.error) };
    }

    await markSent(tx, claimed.id, { customerId, paymentMethodId, fingerprint: cardFingerprint });
    const attempt = await findAttempt(tx, claimed.id);
    // If this process was stalled for longer than the claim lasts, another one may have closed the attempt.
    return { attempt: attempt?.state === 'unknown' ? attempt : undefined };
  });
  countTopUp(deps, canceled);
  return attempt;
}

async function velocityHold(tx: Tx, attempt: Attempt): Promise<Hold | undefined> {
  for (const { count, seconds, name } of VELOCITY_CAPS) {
    const at = await findAutoTopUpTime(tx, attempt.tenant, count, seconds);
    if (at) {
      const error = `Automatic top-ups are paused: there were ${name} [velocity_limit].`;
      return { error, until: new Date(at.getTime() + seconds * 1000) };
    }
  }
  return undefined;
}

async function send(deps: BaseDeps, provider: Provider, attempt: Attempt): Promise<void> {
  try {
    const intent = await provider.stripe.paymentIntents.create(
      {
        amount: centsOfMicros(attempt.amount),
        currency: 'usd',
        customer: attempt.customerId!,
        payment_method: attempt.paymentMethodId!,
        off_session: true,
        confirm: true,
        error_on_requires_action: true,
        metadata: { tenant: renderTenantId(attempt.tenant), attempt: attempt.id },
        expand: ['payment_method'],
      },
      { idempotencyKey: attempt.id },
    );
    await recordOutcome(deps, attempt, intent);
  } catch (error) {
    await handleError(deps, attempt, error);
  }
}

/** The charge exists and was still processing at our last request. */
async function follow(
  deps: BaseDeps,
  provider: Provider,
  attempt: Attempt,
  paymentId: string,
): Promise<void> {
  try {
    await recordOutcome(deps, attempt, await fetchPayment(provider.stripe, paymentId));
  } catch (error) {
    await retryLater(deps, attempt, error);
  }
}

/** Too late to send again: find out whether the charge was made. */
async function lookUp(deps: BaseDeps, provider: Provider, attempt: Attempt): Promise<void> {
  try {
    const intents = provider.stripe.paymentIntents.list({
      customer: attempt.customerId!,
      created: { gte: Math.floor(Date.now() / 1000 - attempt.ageSeconds) - 600 },
      limit: 100,
      expand: ['data.payment_method'],
    });
    for await (const intent of intents) {
      if (intent.metadata.attempt === attempt.id) return await recordOutcome(deps, attempt, intent);
    }
    await giveUp(deps, attempt, 'The payment provider did not answer in time [provider_timeout].');
  } catch (error) {
    await retryLater(deps, attempt, error);
  }
}

async function recordOutcome(deps: BaseDeps, attempt: Attempt, intent: Stripe.PaymentIntent): Promise<void> {
  switch (intent.status) {
    case 'succeeded':
      await close(deps, async (tx) => (await settlePayment(tx, intent)).topUp);
      return;
    case 'processing':
      await postpone(deps.db, attempt.id, RETRY_SECONDS_MAX, { paymentId: intent.id });
      return;
    case 'canceled':
      await giveUp(deps, attempt, PAYMENT_CANCELED);
      return;
    default: {
      const report = intent.last_payment_error ?? { code: 'authentication_required' as const };
      await close(deps, (tx) => declineAttempt(tx, attempt, report, intent.id));
    }
  }
}

/** The charge failed: a decline, a request that the provider cannot serve, or an unknown outcome. */
async function handleError(deps: BaseDeps, attempt: Attempt, error: unknown): Promise<void> {
  if (error instanceof Stripe.errors.StripeCardError) {
    const report = (error.payment_intent?.last_payment_error ?? error.raw) as DeclineReport;
    await close(deps, (tx) => declineAttempt(tx, attempt, report, error.payment_intent?.id));
    return;
  }
  if (error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode !== 409) {
    deps.log.warn({ err: error, attempt: attempt.id }, 'the provider refused an automatic top-up');
    const cardIsGone = error.code === 'resource_missing' || error.param === 'payment_method';
    await inTransaction(deps.db, async (tx) => {
      await lockAccount(tx, attempt.tenant);
      if (isCustomerGone(error)) await forgetCustomer(tx, attempt.customerId!);
      else if (cardIsGone) await forgetCard(tx, attempt.paymentMethodId!);
    });
    await giveUp(deps, attempt, 'The saved card can no longer be charged: pay a checkout [card_unusable].');
    return;
  }
  await retryLater(deps, attempt, error);
}

/** The outcome is unknown, so send the same request again: after 1, 2, 4 and at most 30 seconds. */
async function retryLater(deps: BaseDeps, attempt: Attempt, error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  deps.log.warn({ err: error, attempt: attempt.id }, 'the outcome of an automatic top-up is unknown');
  const delay = Math.min(2 ** Math.max(attempt.sends - 1, 0), RETRY_SECONDS_MAX);
  await postpone(deps.db, attempt.id, delay, { error: message });
  deps.metrics.topUps.inc({ kind: 'auto_top_up', outcome: 'unknown' });
}

function giveUp(deps: BaseDeps, attempt: Attempt, sentence: string): Promise<void> {
  return close(deps, (tx) => cancelAttempt(tx, attempt, sentence));
}

async function close(deps: BaseDeps, work: (tx: Tx) => Promise<TopUpOutcome | undefined>): Promise<void> {
  countTopUp(deps, await inTransaction(deps.db, work));
}
