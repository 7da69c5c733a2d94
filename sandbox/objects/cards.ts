/**
 * The test cards, and two delayed bank debits. Numbers and behaviour follow
 * docs.stripe.com/testing; no other number is accepted anywhere, so no real card is ever stored.
 */
import { stableName } from '../base62.ts';

/** Why a bank declines. `code` and the others are Stripe's names for it. */
export interface Decline {
  readonly code: string;
  readonly declineCode: string;
  readonly adviceCode: string | null;
  readonly networkDeclineCode: string | null;
  readonly message: string;
}

export type Behaviour =
  | { readonly kind: 'succeeds' }
  | { readonly kind: 'declines'; readonly decline: Decline; readonly whenSaved: boolean }
  | { readonly kind: 'authenticates' }
  | { readonly kind: 'disputed' }
  | { readonly kind: 'warned' }
  | { readonly kind: 'refund_fails' }
  | { readonly kind: 'settles_later'; readonly outcome: 'succeeded' | 'failed' };

export interface Instrument {
  /** A card number, or the name of a bank debit. */
  readonly id: string;
  readonly type: 'card' | 'us_bank_account';
  readonly label: string;
  readonly brand: string;
  readonly last4: string;
  /** Stripe's name for a ready-made payment method, `pm_card_...`. */
  readonly token: string;
  readonly behaviour: Behaviour;
}

const BRANDS: Record<string, string> = { 4: 'visa', 5: 'mastercard', 3: 'amex' };

const card = (id: string, label: string, token: string, behaviour: Behaviour): Instrument => ({
  id,
  type: 'card',
  label,
  brand: BRANDS[id.charAt(0)] ?? 'visa',
  last4: id.slice(-4),
  token,
  behaviour,
});

const decline = (
  declineCode: string,
  networkDeclineCode: string,
  adviceCode: string,
  message = 'Your card was declined.',
  code = 'card_declined',
): Decline => ({ code, declineCode, adviceCode, networkDeclineCode, message });

const declines = (reason: Decline): Behaviour => ({ kind: 'declines', decline: reason, whenSaved: false });

const GENERIC = decline('generic_decline', '05', 'try_again_later');
const SUCCEEDS: Behaviour = { kind: 'succeeds' };

/** The bank's answer when a payment needs confirmation but the buyer is not present. */
export const AUTHENTICATION_REQUIRED: Decline = {
  code: 'authentication_required',
  declineCode: 'authentication_required',
  adviceCode: null,
  networkDeclineCode: null,
  message: 'Your card was declined. This transaction requires authentication.',
};

/** The answer when the buyer was asked to confirm and did not. */
export const AUTHENTICATION_FAILED: Decline = {
  code: 'payment_intent_authentication_failure',
  declineCode: 'authentication_not_handled',
  adviceCode: null,
  networkDeclineCode: null,
  message:
    'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
};

/** The answer when a bank debit is returned. */
export const DEBIT_RETURNED: Decline = {
  code: 'payment_intent_payment_attempt_failed',
  declineCode: 'generic_decline',
  adviceCode: null,
  networkDeclineCode: null,
  message: 'The bank debit was returned: the account does not have enough money.',
};

export const INSTRUMENTS: readonly Instrument[] = [
  card('4242424242424242', 'Succeeds', 'pm_card_visa', SUCCEEDS),
  card('5555555555554444', 'Succeeds', 'pm_card_mastercard', SUCCEEDS),
  card('4000000000000077', 'Succeeds, funds available at once', 'pm_card_bypassPending', SUCCEEDS),
  card('4000002760003184', 'Asks for authentication', 'pm_card_authenticationRequired', {
    kind: 'authenticates',
  }),
  card('4000002500003155', 'Asks for authentication', 'pm_card_authenticationRequiredOnSetup', {
    kind: 'authenticates',
  }),
  card('4000000000000341', 'Pays now, declines later charges', 'pm_card_chargeCustomerFail', {
    kind: 'declines',
    decline: GENERIC,
    whenSaved: true,
  }),
  card('4000000000000259', 'Pays, then disputed as fraudulent', 'pm_card_createDispute', {
    kind: 'disputed',
  }),
  card('4000000000005423', 'Pays, then early fraud warning', 'pm_card_createIssuerFraudRecord', {
    kind: 'warned',
  }),
  card('4000000000005126', 'Pays, but refunds fail', 'pm_card_refundFail', { kind: 'refund_fails' }),
  card('4000000000000002', 'Declined', 'pm_card_visa_chargeDeclined', declines(GENERIC)),
  card(
    '4000000000009995',
    'Declined: insufficient funds',
    'pm_card_visa_chargeDeclinedInsufficientFunds',
    declines(decline('insufficient_funds', '51', 'try_again_later', 'Your card has insufficient funds.')),
  ),
  card(
    '4000000000009987',
    'Declined: lost card',
    'pm_card_visa_chargeDeclinedLostCard',
    declines(decline('lost_card', '41', 'do_not_try_again')),
  ),
  card(
    '4000000000009979',
    'Declined: stolen card',
    'pm_card_visa_chargeDeclinedStolenCard',
    declines(decline('stolen_card', '43', 'do_not_try_again')),
  ),
  card(
    '4000000000000069',
    'Declined: expired card',
    'pm_card_chargeDeclinedExpiredCard',
    declines(decline('expired_card', '54', 'confirm_card_data', 'Your card has expired.', 'expired_card')),
  ),
  card(
    '4000000000000127',
    'Declined: wrong CVC',
    'pm_card_chargeDeclinedIncorrectCvc',
    declines(
      decline(
        'incorrect_cvc',
        'N7',
        'confirm_card_data',
        "Your card's security code is incorrect.",
        'incorrect_cvc',
      ),
    ),
  ),
  card(
    '4000000000000119',
    'Declined: processing error',
    'pm_card_chargeDeclinedProcessingError',
    declines(
      decline(
        'processing_error',
        '96',
        'try_again_later',
        'An error occurred while processing your card. Try again in a little bit.',
        'processing_error',
      ),
    ),
  ),
  bankDebit(
    'bank_debit_succeeds',
    'Bank debit that succeeds later',
    '6789',
    'pm_usBankAccount_success',
    'succeeded',
  ),
  bankDebit(
    'bank_debit_fails',
    'Bank debit that fails later',
    '1116',
    'pm_usBankAccount_insufficientFunds',
    'failed',
  ),
];

function bankDebit(
  id: string,
  label: string,
  last4: string,
  token: string,
  outcome: 'succeeded' | 'failed',
): Instrument {
  const behaviour: Behaviour = { kind: 'settles_later', outcome };
  return { id, type: 'us_bank_account', label, brand: 'Sandbox Bank', last4, token, behaviour };
}

/** The instrument with this card number (spaces allowed), bank debit name or ready-made token. */
export function findInstrument(name: string): Instrument | undefined {
  const compact = name.replace(/[\s-]/g, '');
  return INSTRUMENTS.find(({ id, token }) => id === compact || token === name);
}

/** Equal for equal numbers, also across customers. */
export function fingerprint(instrument: Instrument): string {
  return stableName(`fingerprint ${instrument.id}`, 16);
}
