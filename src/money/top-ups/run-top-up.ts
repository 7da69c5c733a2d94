/**
 * Run one automatic top-up that is due: check again, charge the saved card, record the outcome.
 *
 * If the outcome is unknown (a timeout, a broken connection, an error of the provider), the charge is
 * looked up first. If there is none, and it is still allowed, the same request is sent again with the same
 * idempotency key, so that the card is charged at most once. A second attempt is never opened for it.
 */
import type Stripe from 'stripe';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { renderTenantId } from '../../base/tenants/tenant.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { centsOfMicros } from '../amount.ts';
import { PROVIDER_ERROR } from '../payments/payment-settings.ts';
import { forgetCard, forgetCustomer, noteTopUpTrouble } from '../payments/payments.sql.ts';
import { isCustomerGone, isProviderError, type Provider } from '../payments/provider.ts';
import {
  type Attempt,
  IN_FLIGHT_SECONDS_MAX,
  newKeySeconds,
  RESEND_SECONDS_MAX,
  RETRY_SECONDS_MAX,
  retrySeconds,
} from './attempt.ts';
import { cancelAttempt, PAYMENT_CANCELED } from './cancel-attempt.ts';
import type { DeclineReport } from './decline.ts';
import { declineAttempt } from './decline-attempt.ts';
import { findCharge, isUnderway } from './find-charge.ts';
import { prepareAttempt } from './prepare-attempt.ts';
import { fetchPayment, settlePayment } from './settle-payment.ts';
import { claimDueAttempt, markStuck, postpone } from './top-up-attempts.sql.ts';
import { countTopUp, type TopUpDeps, type TopUpOutcome } from './top-up-outcome.ts';

/** Run the automatic top-ups that are due now, one after the other. */
export async function runDueTopUps(deps: TopUpDeps, provider: Provider): Promise<void> {
  while (await runDueTopUp(deps, provider));
}

/** Returns whether an attempt was due. */
export async function runDueTopUp(deps: TopUpDeps, provider: Provider): Promise<boolean> {
  const claimed = await claimDueAttempt(deps.db);
  if (!claimed) return false;

  if (claimed.paymentId) await follow(deps, provider, claimed, claimed.paymentId);
  else if (claimed.state === 'pending') await sendIfAllowed(deps, provider, claimed);
  else await lookUp(deps, provider, claimed);
  return true;
}

async function sendIfAllowed(deps: TopUpDeps, provider: Provider, claimed: Attempt): Promise<void> {
  const { attempt, canceled } = await inTransaction(deps.db, (tx) => prepareAttempt(tx, claimed));
  countTopUp(deps, canceled);
  if (attempt) await send(deps, provider, attempt);
}

async function send(deps: TopUpDeps, provider: Provider, attempt: Attempt): Promise<void> {
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
      { idempotencyKey: keyOf(attempt) },
    );
    await recordOutcome(deps, attempt, intent);
  } catch (error) {
    await handleError(deps, attempt, error);
  }
}

function keyOf({ id, keys }: Attempt): string {
  return keys === 1 ? id : `${id}-${keys}`;
}

/** The charge exists and was still processing at our last request. */
async function follow(
  deps: TopUpDeps,
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

/** It was sent before: send it again only if the charge was not made, and may still be made. */
async function lookUp(deps: TopUpDeps, provider: Provider, attempt: Attempt): Promise<void> {
  let charge: Stripe.PaymentIntent | undefined;
  try {
    charge = await findCharge(provider, attempt);
    if (charge && isUnderway(charge)) {
      if (attempt.quietSeconds < IN_FLIGHT_SECONDS_MAX) {
        return await postpone(deps.db, attempt.id, retrySeconds(attempt), {});
      }
      // The provider left it half done, and will not go on with it: nothing was charged.
      charge = await provider.stripe.paymentIntents.cancel(charge.id);
    }
  } catch (error) {
    return retryLater(deps, attempt, error);
  }
  if (charge) {
    await recordOutcome(deps, attempt, charge);
  } else if (attempt.ageSeconds > RESEND_SECONDS_MAX) {
    await giveUp(deps, attempt, 'The payment provider did not answer in time [provider_timeout].');
  } else {
    await sendIfAllowed(deps, provider, attempt);
  }
}

async function recordOutcome(deps: TopUpDeps, attempt: Attempt, intent: Stripe.PaymentIntent): Promise<void> {
  switch (intent.status) {
    case 'succeeded':
      // Only checkouts have tax.
      await close(deps, async (tx) => (await settlePayment(tx, { intent, tax: 0n })).topUp);
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
async function handleError(deps: TopUpDeps, attempt: Attempt, error: unknown): Promise<void> {
  if (isProviderError(error, 'StripeCardError')) {
    const report = (error.payment_intent?.last_payment_error ?? error.raw) as DeclineReport;
    await close(deps, (tx) => declineAttempt(tx, attempt, report, error.payment_intent?.id));
    return;
  }
  if (isProviderError(error, 'StripeInvalidRequestError') && error.statusCode !== 409) {
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
  if (isStoredError(error)) await noteStuck(deps, attempt);
  await retryLater(deps, attempt, error);
}

/**
 * The first request with this key failed inside the provider, which now gives
 * the same answer to each repetition.
 */
function isStoredError(error: unknown): boolean {
  return (
    isProviderError(error, 'StripeAPIError') &&
    error.statusCode! >= 500 &&
    error.headers?.['idempotent-replayed'] === 'true'
  );
}

/**
 * Another request with this key never charges. Use a new one once no charge of the first request can appear.
 */
async function noteStuck(deps: TopUpDeps, attempt: Attempt): Promise<void> {
  await inTransaction(deps.db, async (tx) => {
    await lockAccount(tx, attempt.tenant);
    const isNew = await markStuck(tx, attempt.id, newKeySeconds(attempt));
    if (isNew) await noteTopUpTrouble(tx, attempt.tenant, PROVIDER_ERROR);
  });
}

/** The outcome is unknown, so look again, and send again if need be. */
async function retryLater(deps: TopUpDeps, attempt: Attempt, error: unknown): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  deps.log.warn({ err: error, attempt: attempt.id }, 'the outcome of an automatic top-up is unknown');
  await postpone(deps.db, attempt.id, retrySeconds(attempt), { error: message });
  deps.metrics.topUps.inc({ kind: 'auto_top_up', outcome: 'unknown' });
}

function giveUp(deps: TopUpDeps, attempt: Attempt, sentence: string): Promise<void> {
  return close(deps, (tx) => cancelAttempt(tx, attempt, sentence));
}

async function close(deps: TopUpDeps, work: (tx: Tx) => Promise<TopUpOutcome | undefined>): Promise<void> {
  countTopUp(deps, await inTransaction(deps.db, work));
}
