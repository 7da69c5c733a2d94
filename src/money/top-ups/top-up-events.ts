/** The events of payments that succeeded or failed. Amounts are decimal strings of micros. */
import type { NewEvent } from '../../events/event.ts';

export const TOP_UP_EVENTS = {
  top_up_succeeded: 'A payment was credited.',
  top_up_failed: 'A payment failed.',
} as const;

/** The subject of `top_up_succeeded` and `top_up_failed`. */
export interface TopUp {
  /** True if the saved card was charged, false for a checkout. */
  readonly automatic: boolean;
  readonly amount: string;
  /** The provider's id; `null` without a payment. */
  readonly paymentId: string | null;
  /** Why it failed, as in `last_top_up_error`; `null` if it succeeded. */
  readonly error: string | null;
}

export function topUpSucceeded(topUp: { automatic: boolean; amount: bigint; paymentId: string }): NewEvent {
  const subject: TopUp = { ...topUp, amount: `${topUp.amount}`, error: null };
  return { type: 'top_up_succeeded', roomUid: null, subject };
}

export function topUpFailed(topUp: {
  automatic: boolean;
  amount: bigint;
  paymentId?: string | undefined;
  error: string;
}): NewEvent {
  const { automatic, amount, paymentId = null, error } = topUp;
  const subject: TopUp = { automatic, amount: `${amount}`, paymentId, error };
  return { type: 'top_up_failed', roomUid: null, subject };
}
