/** Disputes: the cardholder asks the bank for the money back. */
import { type BalanceTransaction, renderBalanceTransaction } from './balance-transaction.ts';

export interface Dispute {
  readonly id: string;
  readonly created: number;
  /** Cents. */
  readonly amount: number;
  readonly currency: string;
  readonly charge: string;
  readonly paymentIntent: string;
  readonly reason: DisputeReason;
  /** An inquiry asks questions first and moves no money. */
  readonly inquiry: boolean;
  readonly status:
    | 'needs_response'
    | 'warning_needs_response'
    | 'warning_closed'
    | 'won'
    | 'lost'
    | 'appeal_under_review';
  readonly movements: readonly Movement[];
}

/** Money taken from the merchant (negative) or given back, in cents. Its id is that of its balance transaction. */
export interface Movement {
  readonly id: string;
  readonly created: number;
  readonly amount: number;
  readonly fee: number;
}

export const DISPUTE_REASONS = [
  'fraudulent',
  'credit_not_processed',
  'duplicate',
  'general',
  'product_not_received',
  'product_unacceptable',
  'subscription_canceled',
  'unrecognized',
] as const;
export type DisputeReason = (typeof DISPUTE_REASONS)[number];

/** Cents that a bank charges for a dispute. */
export const DISPUTE_FEE = 1500;

const ANSWER_SECONDS = 10 * 24 * 3600;

const OPEN: readonly Dispute['status'][] = [
  'needs_response',
  'warning_needs_response',
  'appeal_under_review',
];

export function isOpen(dispute: Dispute): boolean {
  return OPEN.includes(dispute.status);
}

export function renderDispute(dispute: Dispute) {
  return {
    id: dispute.id,
    object: 'dispute',
    amount: dispute.amount,
    balance_transactions: dispute.movements.map((movement) =>
      renderBalanceTransaction(balanceOfMovement(dispute, movement), movement.created),
    ),
    charge: dispute.charge,
    created: dispute.created,
    currency: dispute.currency,
    enhanced_eligibility_types: [],
    evidence: {},
    evidence_details: {
      due_by: isOpen(dispute) ? dispute.created + ANSWER_SECONDS : null,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'manual',
    },
    intended_submission_method: null,
    is_charge_refundable: dispute.status === 'warning_needs_response',
    livemode: false,
    metadata: {},
    network_reason_code: dispute.reason === 'fraudulent' ? '10.4' : '13.1',
    payment_intent: dispute.paymentIntent,
    reason: dispute.reason,
    status: dispute.status,
  };
}

export function balanceOfMovement(
  { id: source, currency }: Pick<Dispute, 'id' | 'currency'>,
  { id, created, amount, fee }: Movement,
): BalanceTransaction {
  const isReversal = amount > 0;
  return {
    id,
    created,
    availableOn: created,
    amount,
    fee,
    currency,
    type: 'adjustment',
    reportingCategory: isReversal ? 'dispute_reversal' : 'dispute',
    description: isReversal ? 'Chargeback reversal' : 'Chargeback withdrawal',
    source,
    payout: null,
  };
}
