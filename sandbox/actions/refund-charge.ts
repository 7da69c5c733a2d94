/** Refunds, in full or in part. A refund may also fail afterwards. */
import { refused } from '../http/errors.ts';
import { balanceOfRefund } from '../objects/balance-transaction.ts';
import { type Charge, renderCharge } from '../objects/charge.ts';
import { instrumentOf } from '../objects/payment-method.ts';
import { type Refund, type RefundReason, renderRefund } from '../objects/refund.ts';
import { emit, now, type Provider } from '../provider.ts';
import { recordBalance } from './record-balance.ts';

export const REFUND_OUTCOMES = ['succeeded', 'pending', 'requires_action', 'failed'] as const;
export type RefundOutcome = (typeof REFUND_OUTCOMES)[number];

export interface RefundRequest {
  /** Cents. Default: the rest. */
  readonly amount?: number | undefined;
  readonly reason?: RefundReason | undefined;
  readonly metadata?: Record<string, string> | undefined;
  /** `pending` and `requires_action` wait for `settleRefund`. Default: the card decides. */
  readonly outcome?: RefundOutcome | undefined;
}

export function refundCharge(provider: Provider, charge: Charge, request: RefundRequest): Refund {
  const { amount = charge.amount - charge.amountRefunded, reason = null, metadata = {} } = request;
  assertRefundable(provider, charge, amount);

  const created = provider.state.put('refunds', {
    id: provider.ids.next('re_'),
    created: now(provider),
    amount,
    currency: charge.currency,
    charge: charge.id,
    paymentIntent: charge.paymentIntent,
    customer: charge.customer,
    reason,
    metadata,
    status: request.outcome === undefined || request.outcome === 'failed' ? 'succeeded' : request.outcome,
    failureReason: null,
    balanceTransaction: null,
    failureBalanceTransaction: null,
  });
  const refund = created.status === 'requires_action' ? created : debit(provider, created);
  changeRefunded(provider, charge, amount);
  emit(provider, 'refund.created', renderRefund(refund));
  const cardFails = instrumentOf(charge.paymentMethod).behaviour.kind === 'refund_fails';
  const fails = request.outcome === 'failed' || (request.outcome === undefined && cardFails);
  return fails ? settleRefund(provider, refund, 'failed') : refund;
}

/** A pending refund has settled, or the bank returned one (even one that had succeeded). */
export function settleRefund(provider: Provider, refund: Refund, outcome: 'succeeded' | 'failed'): Refund {
  if (refund.status === 'failed' || refund.status === outcome) {
    throw refused(`This refund has ${refund.status} already.`);
  }
  const changed = provider.state.change('refunds', refund.id, {
    status: outcome,
    failureReason: outcome === 'failed' ? 'expired_or_canceled_card' : null,
  });
  const settled = outcome === 'failed' ? undoDebit(provider, changed) : debit(provider, changed);
  emit(provider, 'refund.updated', renderRefund(settled), { status: refund.status });
  if (outcome === 'failed') {
    const charge = provider.state.get('charges', refund.charge);
    if (charge !== undefined) {
      provider.state.change('charges', charge.id, { amountRefunded: charge.amountRefunded - refund.amount });
    }
    emit(provider, 'refund.failed', renderRefund(settled));
  }
  return settled;
}

/** The money leaves the merchant's balance, once. */
function debit(provider: Provider, refund: Refund): Refund {
  if (refund.balanceTransaction !== null) return refund;
  const { id } = recordBalance(provider, balanceOfRefund(refund, { failed: false }));
  return provider.state.change('refunds', refund.id, { balanceTransaction: id });
}

/** If the money had left, it comes back. */
function undoDebit(provider: Provider, refund: Refund): Refund {
  if (refund.balanceTransaction === null) return refund;
  const { id } = recordBalance(provider, balanceOfRefund(refund, { failed: true }));
  return provider.state.change('refunds', refund.id, { failureBalanceTransaction: id });
}

function changeRefunded(provider: Provider, charge: Charge, amount: number): void {
  const changed = provider.state.change('charges', charge.id, {
    amountRefunded: charge.amountRefunded + amount,
  });
  emit(provider, 'charge.refunded', renderCharge(changed, provider.publicUrl), {
    amount_refunded: charge.amountRefunded,
  });
}

function assertRefundable(provider: Provider, charge: Charge, amount: number): void {
  const left = charge.amount - charge.amountRefunded;
  if (charge.status !== 'succeeded') {
    throw refused(`Charge ${charge.id} has not succeeded and cannot be refunded.`, { param: 'charge' });
  }
  if (left === 0) {
    throw refused(`Charge ${charge.id} has already been refunded.`, { code: 'charge_already_refunded' });
  }
  const chargedBack = provider.state
    .all('disputes')
    .some((dispute) => dispute.charge === charge.id && !dispute.inquiry && dispute.status !== 'won');
  if (chargedBack) {
    throw refused(`Charge ${charge.id} has been charged back; cannot issue a refund.`, {
      code: 'charge_disputed',
    });
  }
  if (amount > left) {
    throw refused(`Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`, {
      param: 'amount',
    });
  }
}
