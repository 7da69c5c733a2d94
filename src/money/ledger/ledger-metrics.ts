/** Metrics of the ledger. */
import { Counter, type Registry } from 'prom-client';

export type LedgerMetrics = ReturnType<typeof ledgerMetrics>;

export function ledgerMetrics(registry: Registry) {
  return {
    balanceRefusals: new Counter({
      name: 'boxoffice_balance_refusals_total',
      help: 'Charges and payments refused because the balance would leave the range of 64 bits. Adjust the balance.',
      registers: [registry],
    }),
  };
}
