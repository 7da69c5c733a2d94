/** Balance transactions: every movement of money into the merchant's balance and out of it. */
import type { Charge } from './charge.ts';
import { instrumentOf } from './payment-method.ts';
import type { Refund } from './refund.ts';

export interface BalanceTransaction {
  readonly id: string;
  readonly created: number;
  readonly availableOn: number;
  /** Cents; negative if the money left. */
  readonly amount: number;
  /** Cents that the provider keeps of it. */
  readonly fee: number;
  readonly currency: string;
  readonly type: 'adjustment' | 'charge' | 'payment' | 'payout' | 'refund' | 'refund_failure';
  readonly reportingCategory:
    | 'charge'
    | 'dispute'
    | 'dispute_reversal'
    | 'payout'
    | 'refund'
    | 'refund_failure';
  readonly description: string | null;
  readonly source: string;
  /** The payout that it is part of, once it is paid out. */
  readonly payout: string | null;
}

export type NewBalanceTransaction = Omit<BalanceTransaction, 'id' | 'created' | 'availableOn' | 'payout'>;

/** The fee of a payment: 2.9 % and 30 cents. */
export function feeOf(amount: number): number {
  return Math.round((amount * 29) / 1000) + 30;
}

export function balanceOfCharge(charge: Charge): NewBalanceTransaction {
  const isCard = instrumentOf(charge.paymentMethod).type === 'card';
  return {
    amount: charge.amount,
    fee: feeOf(charge.amount),
    currency: charge.currency,
    type: isCard ? 'charge' : 'payment',
    reportingCategory: 'charge',
    description: charge.description,
    source: charge.id,
  };
}

/** The provider keeps the fee of the payment. */
export function balanceOfRefund(refund: Refund, { failed }: { failed: boolean }): NewBalanceTransaction {
  return {
    amount: failed ? refund.amount : -refund.amount,
    fee: 0,
    currency: refund.currency,
    type: failed ? 'refund_failure' : 'refund',
    reportingCategory: failed ? 'refund_failure' : 'refund',
    description: failed ? 'REFUND FAILURE' : 'REFUND FOR PAYMENT',
    source: refund.id,
  };
}

/** Cents. */
export function netOf({ amount, fee }: BalanceTransaction): number {
  return amount - fee;
}

/** `time` decides whether the money is available. */
export function renderBalanceTransaction(transaction: BalanceTransaction, time: number) {
  const { fee, currency } = transaction;
  return {
    id: transaction.id,
    object: 'balance_transaction',
    amount: transaction.amount,
    available_on: transaction.availableOn,
    balance_type: 'payments',
    created: transaction.created,
    currency,
    description: transaction.description,
    exchange_rate: null,
    fee,
    fee_details:
      fee === 0
        ? []
        : [{ amount: fee, application: null, currency, description: 'Processing fees', type: 'stripe_fee' }],
    net: netOf(transaction),
    reporting_category: transaction.reportingCategory,
    source: transaction.source,
    status: transaction.availableOn <= time ? 'available' : 'pending',
    type: transaction.type,
  };
}
