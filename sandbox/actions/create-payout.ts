/** Pay out what is in the balance, as the merchant's schedule would. */
import { refused } from '../http/errors.ts';
import { type BalanceTransaction, netOf } from '../objects/balance-transaction.ts';
import type { Payout } from '../objects/payout.ts';
import { now, type Provider } from '../provider.ts';

export interface PayoutRequest {
  /** Seconds. Default: now. Money that came later is left for the next payout. */
  readonly created?: number | undefined;
  /** Seconds. Default: the time of creation. */
  readonly arrivalDate?: number | undefined;
  /** A charge, refund or dispute that is left in the balance, as no schedule would. */
  readonly except?: string | undefined;
  /** Asked for by the merchant: what it consists of is unknown. */
  readonly manual?: boolean | undefined;
  readonly status?: Payout['status'] | undefined;
}

export const PAYOUT_STATUSES = ['canceled', 'failed', 'in_transit', 'paid'] as const;

export function createPayout(provider: Provider, request: PayoutRequest): Payout {
  const { created = now(provider), arrivalDate = created, except, manual = false, status = 'paid' } = request;
  const paidOut = provider.state
    .all('balanceTransactions')
    .filter((each) => each.payout === null && each.availableOn <= created && each.source !== except);
  const [first] = paidOut;
  if (first === undefined) throw refused('There is nothing to pay out.');

  const id = provider.ids.next('po_');
  const { currency } = first;
  const amount = paidOut.reduce((sum, each) => sum + netOf(each), 0);
  for (const each of paidOut) provider.state.change('balanceTransactions', each.id, { payout: id });
  const own: BalanceTransaction = provider.state.put('balanceTransactions', {
    id: provider.ids.next('txn_'),
    created,
    availableOn: arrivalDate,
    amount: -amount,
    fee: 0,
    currency,
    type: 'payout',
    reportingCategory: 'payout',
    description: 'STRIPE PAYOUT',
    source: id,
    payout: id,
  });
  return provider.state.put('payouts', {
    id,
    created,
    arrivalDate,
    amount,
    currency,
    status,
    automatic: !manual,
    balanceTransaction: own.id,
  });
}
