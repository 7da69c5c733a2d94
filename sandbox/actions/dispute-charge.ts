/** A dispute begins, is won or lost, and may be appealed. Only its balance transactions move money. */
import { refused } from '../http/errors.ts';
import type { Charge } from '../objects/charge.ts';
import {
  balanceOfMovement,
  DISPUTE_FEE,
  type Dispute,
  type DisputeReason,
  isOpen,
  type Movement,
  renderDispute,
} from '../objects/dispute.ts';
import { emit, now, type Provider } from '../provider.ts';

export interface DisputeRequest {
  /** Cents. Default: the whole charge. */
  readonly amount?: number | undefined;
  readonly reason?: DisputeReason | undefined;
  readonly inquiry?: boolean | undefined;
}

export function openDispute(provider: Provider, charge: Charge, request: DisputeRequest): Dispute {
  const { amount = charge.amount, reason = 'fraudulent', inquiry = false } = request;
  if (charge.status !== 'succeeded') throw refused('Only a charge that succeeded can be disputed.');
  if (charge.disputed) throw refused('This charge is disputed already.', { code: 'charge_disputed' });
  if (amount < 1 || amount > charge.amount)
    throw refused('A dispute covers at most the amount of the charge.');

  const { currency } = charge;
  const id = provider.ids.next('du_');
  const dispute = provider.state.put('disputes', {
    id,
    created: now(provider),
    amount,
    currency,
    charge: charge.id,
    paymentIntent: charge.paymentIntent,
    reason,
    inquiry,
    status: inquiry ? 'warning_needs_response' : 'needs_response',
    movements: inquiry ? [] : [move(provider, { id, currency }, -amount, DISPUTE_FEE)],
  });
  provider.state.change('charges', charge.id, { disputed: true });
  emit(provider, 'charge.dispute.created', renderDispute(dispute));
  if (!inquiry) emit(provider, 'charge.dispute.funds_withdrawn', renderDispute(dispute));
  return dispute;
}

export interface DisputeDecision {
  /** Cents that come back. Default: the disputed amount. */
  readonly amount?: number | undefined;
}

/** The bank decides for the merchant: the money comes back, in full or in part. The fee does not. */
export function winDispute(
  provider: Provider,
  dispute: Dispute,
  { amount = dispute.amount }: DisputeDecision = {},
): Dispute {
  assertOpen(dispute);
  if (amount < 1 || amount > dispute.amount) throw refused('At most the disputed amount comes back.');
  const won = provider.state.change('disputes', dispute.id, {
    status: dispute.inquiry ? 'warning_closed' : 'won',
    movements: dispute.inquiry ? [] : [...dispute.movements, move(provider, dispute, amount, 0)],
  });
  if (!dispute.inquiry) emit(provider, 'charge.dispute.funds_reinstated', renderDispute(won));
  emit(provider, 'charge.dispute.closed', renderDispute(won));
  return won;
}

/** The bank decides for the cardholder, or the merchant gives in. */
export function loseDispute(provider: Provider, dispute: Dispute): Dispute {
  assertOpen(dispute);
  if (dispute.inquiry) return loseInquiry(provider, dispute);
  const lost = provider.state.change('disputes', dispute.id, { status: 'lost' });
  emit(provider, 'charge.dispute.closed', renderDispute(lost));
  return lost;
}

/** The merchant appeals a lost dispute. The decision on the appeal wins or loses it. */
export function appealDispute(provider: Provider, dispute: Dispute): Dispute {
  if (dispute.status !== 'lost') throw refused('Only a dispute that was lost can be appealed.');
  const appealed = provider.state.change('disputes', dispute.id, { status: 'appeal_under_review' });
  emit(provider, 'charge.dispute.updated', renderDispute(appealed), { status: dispute.status });
  return appealed;
}

/** A lost inquiry became a dispute in the meantime, which took the money. */
function loseInquiry(provider: Provider, dispute: Dispute): Dispute {
  const lost = provider.state.change('disputes', dispute.id, {
    inquiry: false,
    status: 'lost',
    movements: [move(provider, dispute, -dispute.amount, DISPUTE_FEE)],
  });
  emit(provider, 'charge.dispute.funds_withdrawn', renderDispute(lost));
  emit(provider, 'charge.dispute.closed', renderDispute(lost));
  return lost;
}

function move(
  provider: Provider,
  dispute: Pick<Dispute, 'id' | 'currency'>,
  amount: number,
  fee: number,
): Movement {
  const movement = { id: provider.ids.next('txn_'), created: now(provider), amount, fee };
  provider.state.put('balanceTransactions', balanceOfMovement(dispute, movement));
  return movement;
}

function assertOpen(dispute: Dispute): void {
  if (!isOpen(dispute)) throw refused('This dispute is closed already.');
}
