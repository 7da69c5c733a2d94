/**
 * Amounts of a checkout and of an automatic top-up.
 *
 * Source: specification 4.4, 4.6 and 8.
 */
import { invalidField } from '../../base/failure.ts';
import { MICROS_PER_CENT, microsOfCents } from '../amount.ts';

/** Limits of a checkout and of an enabled automatic top-up. */
export const TOP_UP_CENTS_MIN = 1_000;
export const TOP_UP_CENTS_MAX = 1_000_000;

export const THRESHOLD_CENTS_MIN = 0;

/** Above this, the amount in micros would not be a safe integer for clients. */
export const CENTS_SAFE_MAX = Math.floor(Number.MAX_SAFE_INTEGER / Number(MICROS_PER_CENT));

/** Amounts are in micros; `null` keeps the current value. */
export interface AutoTopUp {
  readonly enabled: boolean;
  readonly below: bigint | null;
  readonly amount: bigint | null;
}

/** Checks the range of the amount only if the top-up is enabled. Fails with `invalid_request`. */
export function parseAutoTopUp(given: {
  readonly enabled: boolean;
  readonly below_cents?: number;
  readonly amount_cents?: number;
}): AutoTopUp {
  const { enabled, below_cents: below, amount_cents: amount } = given;
  if (enabled && below === undefined) throw invalidField('below_cents', 'is required');
  if (enabled && amount === undefined) throw invalidField('amount_cents', 'is required');
  if (enabled && amount! < TOP_UP_CENTS_MIN)
    throw invalidField('amount_cents', `must be >= ${TOP_UP_CENTS_MIN}`);
  if (enabled && amount! > TOP_UP_CENTS_MAX)
    throw invalidField('amount_cents', `must be <= ${TOP_UP_CENTS_MAX}`);
  return {
    enabled,
    below: below === undefined ? null : microsOfCents(below),
    amount: amount === undefined ? null : microsOfCents(amount),
  };
}
