/** A payout of the provider, and what its balance transactions say about it. */
import type Stripe from 'stripe';
import { microsOfCents } from '../amount.ts';
import { idOf } from '../reversals/reversal.ts';

export type MovedKind = 'payment' | 'refund' | 'dispute';

/** A balance transaction that moved money of a payment, refund or dispute. */
export interface Movement {
  readonly transaction: string;
  readonly kind: MovedKind;
  /** The id of the payment, refund or dispute; `undefined`: the provider names none. */
  readonly id: string | undefined;
  /** Micros, negative if the money left. `undefined`: the account settles in another currency. */
  readonly amount: bigint | undefined;
  readonly currency: string;
  /** What the balance gained, fees deducted, in the smallest unit of the currency. */
  readonly net: number;
  readonly createdAt: Date;
  readonly availableAt: Date;
}

/** In the smallest unit of the payout's currency, so cents for dollars. `net` is the sum of the others. */
export interface PayoutSums {
  readonly gross: number;
  /** Taken back by refunds and disputes: negative, unless more was given back. */
  readonly reversed: number;
  /** What the provider kept: negative. */
  readonly fees: number;
  /** Reserves, returned payouts, and whatever else is no payment or is not known. */
  readonly other: number;
  readonly net: number;
}

/** Source: Stripe's reporting categories. */
const KINDS: Readonly<Record<string, MovedKind>> = {
  charge: 'payment',
  refund: 'refund',
  refund_failure: 'refund',
  dispute: 'dispute',
  dispute_reversal: 'dispute',
};

/** Transactions that are nothing but a fee. */
const FEES: readonly string[] = ['stripe_fee', 'stripe_fx_fee', 'tax_fee'];

/** A transaction with `source` expanded. `undefined`: it is of no payment, refund or dispute. */
export function readMovement(transaction: Stripe.BalanceTransaction): Movement | undefined {
  const kind = KINDS[transaction.reporting_category];
  if (!kind) return undefined;
  const { source } = transaction;
  const isCharge = typeof source === 'object' && source?.object === 'charge';
  return {
    transaction: transaction.id,
    kind,
    id: idOf(isCharge ? source.payment_intent : source),
    amount: amountOf(transaction),
    currency: transaction.currency,
    net: transaction.net,
    createdAt: new Date(transaction.created * 1000),
    availableAt: new Date(transaction.available_on * 1000),
  };
}

/** Charges and refunds name their own amount, whatever currency the account settles in. */
function amountOf({ source, amount, currency }: Stripe.BalanceTransaction): bigint | undefined {
  const own = typeof source === 'object' && (source?.object === 'charge' || source?.object === 'refund');
  if (own && source.currency === 'usd') return microsOfCents(Math.sign(amount) * source.amount);
  return currency === 'usd' ? microsOfCents(amount) : undefined;
}

/**
 * Whether a movement is one of what is booked: micros that came into the balance by it, and left it. A dispute
 * may move several parts. What has no amount to compare is.
 */
export function isBookedAs(
  { kind, amount }: Pick<Movement, 'kind' | 'amount'>,
  { added, removed }: { readonly added: bigint; readonly removed: bigint },
): boolean {
  if (amount === undefined) return true;
  const [moved, limit] = amount > 0n ? [amount, added] : [-amount, removed];
  return kind === 'dispute' ? moved <= limit : moved === limit;
}

/** The transactions of one payout, without that of the payout itself. */
export function sumTransactions(transactions: readonly Stripe.BalanceTransaction[]): PayoutSums {
  const sum = (of: (transaction: Stripe.BalanceTransaction) => number) =>
    transactions.reduce((total, each) => total + of(each), 0);
  const isFee = ({ type }: Stripe.BalanceTransaction) => FEES.includes(type);
  const isMoved = ({ reporting_category }: Stripe.BalanceTransaction) => reporting_category in KINDS;
  const isPayment = ({ reporting_category }: Stripe.BalanceTransaction) =>
    KINDS[reporting_category] === 'payment';
  return {
    gross: sum((each) => (isPayment(each) ? each.amount : 0)),
    reversed: sum((each) => (isMoved(each) && !isPayment(each) ? each.amount : 0)),
    fees: sum((each) => (isFee(each) ? each.amount : 0) - each.fee),
    other: sum((each) => (isMoved(each) || isFee(each) ? 0 : each.amount)),
    net: sum((each) => each.net),
  };
}

/** The sums of a payout whose transactions the provider does not tell. */
export function unknownSums({ amount }: Pick<Stripe.Payout, 'amount'>): PayoutSums {
  return { gross: 0, reversed: 0, fees: 0, other: amount, net: amount };
}

/** The money did not reach the bank, or came back from there. */
export function isReturned({ status }: Pick<Stripe.Payout, 'status'>): boolean {
  return status === 'failed' || status === 'canceled';
}
