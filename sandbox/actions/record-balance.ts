/** Money comes into the merchant's balance or leaves it. It is available at once. */
import type { BalanceTransaction, NewBalanceTransaction } from '../objects/balance-transaction.ts';
import { now, type Provider } from '../provider.ts';

export function recordBalance(provider: Provider, transaction: NewBalanceTransaction): BalanceTransaction {
  const created = now(provider);
  return provider.state.put('balanceTransactions', {
    ...transaction,
    id: provider.ids.next('txn_'),
    created,
    availableOn: created,
    payout: null,
  });
}
