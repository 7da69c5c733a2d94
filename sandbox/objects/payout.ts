/** Payouts: the balance goes to the merchant's bank. */
export interface Payout {
  readonly id: string;
  readonly created: number;
  readonly arrivalDate: number;
  /** Cents; negative if the bank account is debited, because more was taken back than paid. */
  readonly amount: number;
  readonly currency: string;
  readonly status: 'canceled' | 'failed' | 'in_transit' | 'paid';
  /** A payout of the schedule. Of others, Stripe does not know which transactions they pay out. */
  readonly automatic: boolean;
  readonly balanceTransaction: string;
}

export function renderPayout(payout: Payout) {
  const failed = payout.status === 'failed';
  return {
    id: payout.id,
    object: 'payout',
    amount: payout.amount,
    application_fee: null,
    application_fee_amount: null,
    arrival_date: payout.arrivalDate,
    automatic: payout.automatic,
    balance_transaction: payout.balanceTransaction,
    created: payout.created,
    currency: payout.currency,
    description: 'STRIPE PAYOUT',
    destination: null,
    failure_balance_transaction: null,
    failure_code: failed ? 'account_closed' : null,
    failure_message: failed ? 'The bank account has been closed.' : null,
    livemode: false,
    metadata: {},
    method: 'standard',
    original_payout: null,
    payout_method: null,
    reconciliation_status: payout.automatic ? 'completed' : 'not_applicable',
    reversed_by: null,
    source_type: 'card',
    statement_descriptor: null,
    status: payout.status,
    trace_id: null,
    type: 'bank_account',
  };
}
