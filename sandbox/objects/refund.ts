/** Refunds of charges. */
export interface Refund {
  readonly id: string;
  readonly created: number;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly charge: string;
  readonly paymentIntent: string;
  readonly customer: string | null;
  readonly reason: RefundReason | null;
  readonly metadata: Record<string, string>;
  readonly status: 'succeeded' | 'pending' | 'requires_action' | 'failed';
  readonly failureReason: string | null;
  readonly balanceTransaction: string | null;
  readonly failureBalanceTransaction: string | null;
}

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

export function renderRefund(refund: Refund) {
  return {
    id: refund.id,
    object: 'refund',
    amount: refund.amount,
    balance_transaction: refund.balanceTransaction,
    charge: refund.charge,
    created: refund.created,
    currency: refund.currency,
    customer: refund.customer,
    customer_account: null,
    ...(refund.failureBalanceTransaction === null
      ? {}
      : { failure_balance_transaction: refund.failureBalanceTransaction }),
    ...(refund.failureReason === null ? {} : { failure_reason: refund.failureReason }),
    ...(refund.status === 'pending' ? { pending_reason: 'processing' } : {}),
    metadata: refund.metadata,
    payment_intent: refund.paymentIntent,
    payment_method: null,
    reason: refund.reason,
    receipt_number: null,
    source_transfer_reversal: null,
    status: refund.status,
    transfer_reversal: null,
  };
}
