/**
 * One attempt to pay a payment intent, and its consequences.
 *
 * The caller holds a transaction open (`perform`). A decline is an outcome, not an exception:
 * read it from the status and `lastError` of the returned intent.
 */

import { balanceOfCharge } from '../objects/balance-transaction.ts';
import {
  AUTHENTICATION_FAILED,
  AUTHENTICATION_REQUIRED,
  DEBIT_RETURNED,
  type Decline,
} from '../objects/cards.ts';
import { type Charge, renderCharge } from '../objects/charge.ts';
import { type PaymentIntent, renderPaymentIntent } from '../objects/payment-intent.ts';
import { instrumentOf, type PaymentMethod } from '../objects/payment-method.ts';
import { emit, now, type Provider } from '../provider.ts';
import { followPayment } from './follow-payment.ts';
import { recordBalance } from './record-balance.ts';
import { attachPaymentMethod } from './save-payment-method.ts';

/** When a bank debit settles, where the sandbox settles debits by itself. */
export const SETTLE_SECONDS = 10;

export interface Mode {
  /** The buyer is not present to confirm the payment. */
  readonly offSession: boolean;
  /** Decline instead of waiting for the buyer to authenticate. */
  readonly errorOnRequiresAction: boolean;
}

export const ON_SESSION: Mode = { offSession: false, errorOnRequiresAction: false };

type Verdict =
  | { readonly kind: 'succeed' | 'authenticate' | 'settle_later' }
  | { readonly kind: 'decline'; readonly decline: Decline };

export function payIntent(
  provider: Provider,
  intent: PaymentIntent,
  method: PaymentMethod,
  mode: Mode,
): PaymentIntent {
  const verdict = judge(method, mode);
  switch (verdict.kind) {
    case 'succeed':
      return succeed(provider, intent, method);
    case 'settle_later':
      return process(provider, intent, method);
    case 'authenticate':
      return requireAction(provider, intent, method);
    case 'decline':
      return fail(provider, intent, method, verdict.decline);
  }
}

/** The buyer has answered the authentication request. */
export function authenticateIntent(
  provider: Provider,
  intent: PaymentIntent,
  method: PaymentMethod,
  { confirmed }: { confirmed: boolean },
): PaymentIntent {
  return confirmed
    ? succeed(provider, intent, method)
    : fail(provider, intent, method, AUTHENTICATION_FAILED, { charged: false });
}

/** A processing bank debit has settled or was returned. */
export function settleIntent(
  provider: Provider,
  intent: PaymentIntent,
  method: PaymentMethod,
  outcome: 'succeeded' | 'failed',
): PaymentIntent {
  return outcome === 'succeeded'
    ? succeed(provider, intent, method)
    : fail(provider, intent, method, DEBIT_RETURNED);
}

function judge(method: PaymentMethod, mode: Mode): Verdict {
  const { behaviour } = instrumentOf(method);
  switch (behaviour.kind) {
    case 'declines':
      if (behaviour.whenSaved && !mode.offSession) return { kind: 'succeed' };
      return { kind: 'decline', decline: behaviour.decline };
    case 'authenticates':
      if (mode.offSession || mode.errorOnRequiresAction) {
        return { kind: 'decline', decline: AUTHENTICATION_REQUIRED };
      }
      return { kind: 'authenticate' };
    case 'settles_later':
      return { kind: 'settle_later' };
    case 'succeeds':
    case 'disputed':
    case 'warned':
    case 'refund_fails':
      return { kind: 'succeed' };
  }
}

function succeed(provider: Provider, intent: PaymentIntent, method: PaymentMethod): PaymentIntent {
  const charge = credit(provider, putCharge(provider, intent, method, { status: 'succeeded' }));
  emit(provider, 'charge.succeeded', renderCharge(charge, provider.publicUrl));
  saveForLater(provider, intent, method);
  const paid = changeIntent(provider, intent, method, {
    status: 'succeeded',
    latestCharge: charge.id,
    lastError: null,
  });
  emitIntent(provider, 'payment_intent.succeeded', paid);
  followPayment(provider, paid, charge);
  return paid;
}

function process(provider: Provider, intent: PaymentIntent, method: PaymentMethod): PaymentIntent {
  const charge = putCharge(provider, intent, method, { status: 'pending' });
  emit(provider, 'charge.pending', renderCharge(charge, provider.publicUrl));
  saveForLater(provider, intent, method);
  const processing = changeIntent(provider, intent, method, {
    status: 'processing',
    latestCharge: charge.id,
    lastError: null,
  });
  emitIntent(provider, 'payment_intent.processing', processing);
  followPayment(provider, processing, charge);
  return processing;
}

function requireAction(provider: Provider, intent: PaymentIntent, method: PaymentMethod): PaymentIntent {
  const waiting = changeIntent(provider, intent, method, { status: 'requires_action', lastError: null });
  emitIntent(provider, 'payment_intent.requires_action', waiting);
  return waiting;
}

function fail(
  provider: Provider,
  intent: PaymentIntent,
  method: PaymentMethod,
  decline: Decline,
  { charged }: { charged: boolean } = { charged: true },
): PaymentIntent {
  const charge = charged ? putCharge(provider, intent, method, { status: 'failed', failure: decline }) : null;
  if (charge !== null) emit(provider, 'charge.failed', renderCharge(charge, provider.publicUrl));
  const failed = provider.state.change('paymentIntents', intent.id, {
    status: 'requires_payment_method',
    paymentMethod: null,
    latestCharge: charge?.id ?? intent.latestCharge,
    lastError: { decline, charge: charge?.id ?? null, paymentMethod: method },
  });
  emitIntent(provider, 'payment_intent.payment_failed', failed);
  followPayment(provider, failed, charge);
  return failed;
}

/** A pending charge becomes succeeded or failed. Otherwise each attempt is a new charge. */
function putCharge(
  provider: Provider,
  intent: PaymentIntent,
  method: PaymentMethod,
  result: Partial<Charge> & Pick<Charge, 'status'>,
): Charge {
  const pending = intent.status === 'processing' ? intent.latestCharge : null;
  if (pending !== null) return provider.state.change('charges', pending, result);
  return provider.state.put('charges', {
    id: provider.ids.next('ch_'),
    created: now(provider),
    paymentIntent: intent.id,
    amount: intent.amount,
    amountRefunded: 0,
    currency: intent.currency,
    customer: intent.customer,
    description: intent.description,
    metadata: intent.metadata,
    paymentMethod: method,
    failure: null,
    disputed: false,
    balanceTransaction: null,
    ...result,
  });
}

/** The money of a charge arrives in the merchant's balance. */
function credit(provider: Provider, charge: Charge): Charge {
  const { id } = recordBalance(provider, balanceOfCharge(charge));
  return provider.state.change('charges', charge.id, { balanceTransaction: id });
}

function changeIntent(
  provider: Provider,
  intent: PaymentIntent,
  method: PaymentMethod,
  fields: Partial<PaymentIntent>,
): PaymentIntent {
  return provider.state.change('paymentIntents', intent.id, { paymentMethod: method.id, ...fields });
}

function saveForLater(provider: Provider, intent: PaymentIntent, method: PaymentMethod): void {
  if (intent.customer === null || intent.setupFutureUsage === null || method.customer !== null) return;
  attachPaymentMethod(provider, method.id, intent.customer);
}

function emitIntent(
  provider: Provider,
  type: `payment_intent.${'succeeded' | 'processing' | 'requires_action' | 'payment_failed'}`,
  intent: PaymentIntent,
): void {
  emit(provider, type, renderPaymentIntent(intent, provider.publicUrl));
}
