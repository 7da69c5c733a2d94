/**
 * Whether an automatic top-up may be charged now. Pure.
 *
 * Source: specification 4.6. Asked before an attempt is sent, and again whenever it would be sent again:
 * much may have changed while its outcome was unknown.
 */
import type { Account } from '../accounts/accounts.sql.ts';
import { hasConsent } from '../accounts/top-up-consent.ts';
import type { PaymentSettings } from '../payments/payment-settings.ts';
import type { Attempt } from './attempt.ts';

/** Limits of successful automatic top-ups, so that a leaked relay key cannot empty a bank account. */
export const VELOCITY_CAPS = [
  { count: 3, seconds: 600, name: '3 within 10 minutes' },
  { count: 24, seconds: 86_400, name: '24 within a day' },
] as const;

/** Why an attempt must not be sent. */
export interface Refusal {
  readonly error: string;
  /** The tenant reads `error` in `last_top_up_error`. Otherwise the tenant misses nothing. */
  readonly isTold: boolean;
  /** No automatic top-up runs before; `null`: no pause. */
  readonly until: Date | 'infinity' | null;
  /** A top-up is still due, but with another amount or card: another attempt takes its place. */
  readonly isReplaced: boolean;
}

/** `undefined`: as far as account and settings go, the attempt may be sent. */
export function findTopUpRefusal(
  account: Account,
  settings: PaymentSettings,
  attempt: Attempt,
): Refusal | undefined {
  const wasSent = attempt.state === 'unknown';
  const withdrawn = wasSent ? findWithdrawal(account, settings) : undefined;
  if (withdrawn) {
    const error = `The top-up was canceled before it was charged: ${withdrawn}.`;
    return { error, isTold: true, until: null, isReplaced: false };
  }
  if (account.exempt || account.topUpBelow === null || account.balance >= account.topUpBelow) {
    return { error: 'no longer due', isTold: false, until: null, isReplaced: false };
  }
  const isChanged =
    settings.topUpAmount !== attempt.amount || settings.paymentMethodId !== attempt.paymentMethodId;
  return wasSent && isChanged
    ? { error: 'its amount or card was changed', isTold: false, until: null, isReplaced: true }
    : undefined;
}

/** What was withdrawn since the attempt was first sent, with a code in brackets. */
function findWithdrawal(account: Account, settings: PaymentSettings): string | undefined {
  if (account.status !== 'active') return 'the tenant is not active [tenant_not_active]';
  if (!settings.topUpEnabled) return 'automatic top-ups were turned off [turned_off]';
  if (settings.frozenBy.length > 0) return 'a payment was disputed or reported as fraud [frozen]';
  if (settings.reversedPayments.length > 0) return 'a payment was refunded or disputed [payment_reversed]';
  if (settings.parkedPayments.length > 0) return 'an earlier payment is not credited yet [payment_parked]';
  if (!hasConsent(settings)) return 'the card is that of a member who did not agree [foreign_card]';
  if (settings.paymentMethodId === null) return 'the saved card was removed [card_removed]';
  if (account.topUpBelow === null) return 'automatic top-ups were stopped [stopped]';
  return undefined;
}
