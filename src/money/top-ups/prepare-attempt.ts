/**
 * The last look before an attempt is sent, or sent again: under the account's lock, is it still right to
 * charge?
 */
import type { Tx } from '../../base/db/pool.ts';
import { type Account, lockAccount } from '../accounts/accounts.sql.ts';
import { PROVIDER_ERROR } from '../payments/payment-settings.ts';
import { endTopUpTrouble, findAutoTopUpTime, findPaymentSettings } from '../payments/payments.sql.ts';
import { type Attempt, IN_FLIGHT_SECONDS_MAX, LOOK_SECONDS } from './attempt.ts';
import { closeAsCanceled } from './cancel-attempt.ts';
import { findCardHold } from './card-breaker.ts';
import { noteFailedTopUp } from './note-failed-top-up.ts';
import { requestTopUpIfBelow } from './request-top-up.ts';
import { findAttempt, markResent, markSent, postpone } from './top-up-attempts.sql.ts';
import type { TopUpOutcome } from './top-up-outcome.ts';
import { findTopUpRefusal, type Refusal, VELOCITY_CAPS } from './top-up-permission.ts';

/** `attempt`: send it. Neither: it was closed meanwhile, or it is not its time yet. */
export interface Prepared {
  readonly attempt?: Attempt | undefined;
  readonly canceled?: TopUpOutcome | undefined;
}

/** An attempt that was sent before must have been looked up at the provider, without a charge. */
export async function prepareAttempt(tx: Tx, claimed: Attempt): Promise<Prepared> {
  const account = await lockAccount(tx, claimed.tenant);
  // If this process was stalled for longer than the claim lasts, another one may have sent or closed it.
  const attempt = await findAttempt(tx, claimed.id);
  if (attempt?.state !== claimed.state) return {};
  const settings = await findPaymentSettings(tx, claimed.tenant);
  const { customerId, paymentMethodId, cardFingerprint: fingerprint, topUpAmount: amount } = settings;
  const refusal =
    findTopUpRefusal(account, settings, attempt) ??
    (await velocityHold(tx, attempt)) ??
    (fingerprint ? await cardHold(tx, fingerprint) : undefined);
  if (refusal) return refuse(tx, account, attempt, refusal);

  if (attempt.state === 'pending') {
    const card = { customerId: customerId!, paymentMethodId: paymentMethodId!, fingerprint };
    return { attempt: await markSent(tx, attempt.id, { amount, ...card }) };
  }
  const resent = await markResent(tx, attempt.id);
  if (!resent) await postpone(tx, attempt.id, LOOK_SECONDS, {});
  return { attempt: resent };
}

async function refuse(tx: Tx, account: Account, attempt: Attempt, refusal: Refusal): Promise<Prepared> {
  const mayBeInFlight =
    attempt.state === 'unknown' && !attempt.isStuck && attempt.quietSeconds < IN_FLIGHT_SECONDS_MAX;
  if (mayBeInFlight) {
    // The last request may still become a charge. If the attempt were closed now, another one could be opened
    // beside it.
    await postpone(tx, attempt.id, LOOK_SECONDS, {});
    return {};
  }
  const canceled = await closeAsCanceled(tx, attempt, refusal.error);
  if (!canceled) return {};
  if (refusal.isTold) await noteFailedTopUp(tx, attempt, refusal.error, refusal.until);
  else await endTopUpTrouble(tx, attempt.tenant, PROVIDER_ERROR);
  if (refusal.isReplaced) await requestTopUpIfBelow(tx, account);
  return { canceled };
}

async function cardHold(tx: Tx, fingerprint: string): Promise<Refusal | undefined> {
  const hold = await findCardHold(tx, fingerprint);
  return hold && { ...hold, isTold: true, isReplaced: false };
}

async function velocityHold(tx: Tx, attempt: Attempt): Promise<Refusal | undefined> {
  for (const { count, seconds, name } of VELOCITY_CAPS) {
    const at = await findAutoTopUpTime(tx, attempt.tenant, count, seconds);
    if (at) {
      const error = `Automatic top-ups are paused: there were ${name} [velocity_limit].`;
      return { error, isTold: true, until: new Date(at.getTime() + seconds * 1000), isReplaced: false };
    }
  }
  return undefined;
}
