/** The events of refunds and disputes. Amounts are decimal strings of micros. */
import type { NewEvent } from '../../events/event.ts';
import type { DisputeOutcome } from './reversal.ts';

export const REVERSAL_EVENTS = {
  payment_reversed: 'A refund or a dispute took credit back, or gave it back.',
} as const;

export const DISPUTE_EVENTS = { payment_disputed: 'A payment is disputed.' } as const;

export const DISPUTE_END_EVENTS = { payment_dispute_closed: 'A dispute ended.' } as const;

/** The subject of `payment_reversed`. */
export interface PaymentReversal {
  readonly paymentId: string;
  readonly kind: 'refund' | 'dispute';
  /** The provider's id of the refund or dispute. */
  readonly reference: string;
  /** Negative if credit was taken back, positive if it was given back. */
  readonly amount: string;
}

/** The subject of `payment_disputed`. */
export interface PaymentDispute {
  readonly paymentId: string;
  /** An inquiry only asks, and takes nothing. A fraud warning comes from the card network, before any dispute. */
  readonly kind: 'dispute' | 'inquiry' | 'fraud_warning';
  /** The provider's id of the dispute or warning. */
  readonly reference: string;
  /** What is disputed, tax included; for a fraud warning, the whole payment. Never negative. */
  readonly amount: string;
  /** In the provider's words, such as `fraudulent`; `null`: not known. */
  readonly reason: string | null;
}

/** The subject of `payment_dispute_closed`. */
export interface PaymentDisputeEnd {
  readonly paymentId: string;
  readonly reference: string;
  /** `closed`: it was an inquiry or a warning, which neither side lost. A lost dispute may be won later, on appeal. */
  readonly outcome: DisputeOutcome;
}

export function paymentReversed(reversal: Omit<PaymentReversal, 'amount'> & { amount: bigint }): NewEvent {
  const subject: PaymentReversal = { ...reversal, amount: `${reversal.amount}` };
  return { type: 'payment_reversed', roomUid: null, subject };
}

export function paymentDisputed(dispute: Omit<PaymentDispute, 'amount'> & { amount: bigint }): NewEvent {
  const subject: PaymentDispute = { ...dispute, amount: `${dispute.amount}` };
  return { type: 'payment_disputed', roomUid: null, subject };
}

export function paymentDisputeClosed(subject: PaymentDisputeEnd): NewEvent {
  return { type: 'payment_dispute_closed', roomUid: null, subject };
}
