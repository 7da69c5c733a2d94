/** Interprets a decline: whether the card may be tried again, and a message for the tenant. */
import type Stripe from 'stripe';

export interface Decline {
  /** The most specific code: the bank's, if there is one. */
  readonly code: string;
  /** Retrying this card is pointless or forbidden. */
  readonly hard: boolean;
  /** A sentence for the tenant, with the code in brackets. */
  readonly sentence: string;
}

const HARD_CODES = new Set([
  'lost_card',
  'stolen_card',
  'pickup_card',
  'fraudulent',
  'expired_card',
  'authentication_required',
]);

/** Mastercard's advice codes 03 and 21: do not try again. */
const HARD_NETWORK_ADVICE = new Set(['03', '21']);

const SENTENCES: Readonly<Record<string, string>> = {
  authentication_required: 'The bank asks the card holder to confirm the payment: pay a checkout to do so',
  insufficient_funds: 'The saved card has insufficient funds',
  expired_card: 'The saved card has expired: pay a checkout with another card',
  lost_card: 'The saved card was declined: pay a checkout with another card',
  stolen_card: 'The saved card was declined: pay a checkout with another card',
  pickup_card: 'The saved card was declined: pay a checkout with another card',
  fraudulent: 'The saved card was declined: pay a checkout with another card',
};

/** The provider's report of a declined charge. */
export type DeclineReport = Pick<
  Stripe.PaymentIntent.LastPaymentError,
  'code' | 'decline_code' | 'advice_code' | 'network_advice_code'
>;

export function readDecline(report: DeclineReport): Decline {
  const needsCardholder =
    report.code === 'authentication_required' || report.decline_code === 'authentication_required';
  const code = needsCardholder
    ? 'authentication_required'
    : report.decline_code || report.code || 'card_declined';
  const hard =
    HARD_CODES.has(code) ||
    report.advice_code === 'do_not_try_again' ||
    HARD_NETWORK_ADVICE.has(report.network_advice_code ?? '');
  return { code, hard, sentence: `${SENTENCES[code] ?? 'The saved card was declined'} [${code}].` };
}
