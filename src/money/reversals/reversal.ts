/** What refunds and disputes take back of a payment, read from the provider's own objects. */
import type Stripe from 'stripe';
import { microsOfCents } from '../amount.ts';

export interface Refund {
  readonly id: string;
  readonly paymentId: string | undefined;
  /** Micros. */
  readonly amount: bigint;
  readonly status: string;
}

/**
 * From the first to the last that a dispute may have. `closed` is the end of an inquiry or a warning, which
 * neither side lost. A lost dispute may be won on appeal.
 */
export const DISPUTE_OUTCOMES = ['closed', 'lost', 'won'] as const;
export type DisputeOutcome = (typeof DISPUTE_OUTCOMES)[number];

export interface Dispute {
  readonly id: string;
  readonly paymentId: string | undefined;
  /** The disputed amount, in micros. */
  readonly amount: bigint;
  /** Number of balance transactions. An answer with more of them is newer. */
  readonly movements: number;
  /** Micros, without fees. */
  readonly withdrawn: bigint;
  readonly reinstated: bigint;
  /** `null`: undecided, or appealed. */
  readonly outcome: DisputeOutcome | null;
  /** Why the card holder disputes the payment, in the provider's words: `fraudulent`. */
  readonly reason: string;
  /** So far the bank only asks, and has taken nothing. */
  readonly inquiry: boolean;
}

/** An early fraud warning: the card network suspects fraud. */
export interface FraudWarning {
  readonly id: string;
  readonly paymentId: string | undefined;
  /** The kind of fraud, in the provider's words: `made_with_stolen_card`. */
  readonly reason: string;
}

/** Statuses in the order in which a refund goes through them. */
export const REFUND_STATUSES = ['requires_action', 'pending', 'succeeded', 'failed', 'canceled'] as const;

/** With one of these, the money has left, or is about to. */
export const REFUND_TAKES: readonly string[] = ['pending', 'succeeded'];

/** Dollars are exact up to this many cents after a conversion to the account's currency and back. */
const CONVERSION_CENTS = 2;

const OUTCOMES: Readonly<Record<string, DisputeOutcome>> = {
  won: 'won',
  lost: 'lost',
  warning_closed: 'closed',
  prevented: 'closed',
};

export function readRefund(refund: Stripe.Refund): Refund {
  return {
    id: refund.id,
    paymentId: idOf(refund.payment_intent),
    amount: microsOfCents(refund.amount),
    status: refund.status ?? 'pending',
  };
}

export function readDispute(dispute: Stripe.Dispute): Dispute {
  const cents = dispute.balance_transactions.map((movement) => centsOf(dispute, movement));
  const sum = (kept: readonly number[]) => microsOfCents(kept.reduce((total, each) => total + each, 0));
  return {
    id: dispute.id,
    paymentId: idOf(dispute.payment_intent),
    amount: microsOfCents(dispute.amount),
    movements: cents.length,
    withdrawn: sum(cents.filter((each) => each < 0).map((each) => -each)),
    reinstated: sum(cents.filter((each) => each > 0)),
    outcome: OUTCOMES[dispute.status] ?? null,
    reason: dispute.reason,
    inquiry: dispute.status.startsWith('warning_'),
  };
}

export function readFraudWarning(warning: Stripe.Radar.EarlyFraudWarning): FraudWarning {
  return { id: warning.id, paymentId: idOf(warning.payment_intent), reason: warning.fraud_type };
}

/** Micros. */
export function takenByRefund({ amount, status }: Refund): bigint {
  return REFUND_TAKES.includes(status) ? amount : 0n;
}

/** Micros. A dispute never gives back more than it took. */
export function takenByDispute({ withdrawn, reinstated }: Dispute): bigint {
  return withdrawn > reinstated ? withdrawn - reinstated : 0n;
}

/**
 * Micros of credit to take back of a payment, of which the provider has taken back `takenBack` micros. The
 * customer got back a share of the tax as well, so it is the same share of the credit, rounded down. All
 * of the payment is all of the credit, exactly.
 */
export function reversedCredit(
  { credited, tax }: { readonly credited: bigint; readonly tax: bigint },
  takenBack: bigint,
): bigint {
  const paid = credited + tax;
  return takenBack >= paid ? credited : (takenBack * credited) / paid;
}

/**
 * Cents of the dispute's currency. The account may settle in another one; its transaction then names the
 * exchange rate. The rate is rounded, so an amount next to the disputed one is that one.
 */
function centsOf(dispute: Stripe.Dispute, movement: Stripe.BalanceTransaction): number {
  const { amount, currency, exchange_rate: rate } = movement;
  if (currency === dispute.currency || !rate) return amount;
  const cents = Math.round(Math.abs(amount) / rate);
  const isWhole = Math.abs(cents - dispute.amount) <= CONVERSION_CENTS;
  return Math.sign(amount) * (isWhole ? dispute.amount : cents);
}

export function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === 'string' ? reference : reference?.id;
}
