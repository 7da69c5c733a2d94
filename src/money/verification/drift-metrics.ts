/** Metrics of what differs from the ledgers or from the payment provider. */
import { Gauge, type Registry } from 'prom-client';
import type { BaseDeps } from '../../base/deps.ts';

export type DriftMetrics = ReturnType<typeof driftMetrics>;

export interface DriftDeps extends BaseDeps {
  readonly metrics: BaseDeps['metrics'] & DriftMetrics;
}

export function driftMetrics(registry: Registry) {
  return {
    ledgerDrift: new Gauge({
      name: 'boxoffice_ledger_drift_micros',
      help: 'Difference in micros between tenant balances and their ledgers, as last checked. Anything but 0 is a bug.',
      // Every process checks the same tenants.
      aggregator: 'max',
      registers: [registry],
    }),
    providerDrift: new Gauge({
      name: 'boxoffice_provider_drift',
      help: 'Payments, refunds and disputes that differ from those of the payment provider, as last compared.',
      // Every process shows the comparison of the whole deployment.
      aggregator: 'max',
      registers: [registry],
    }),
    providerDriftAge: new Gauge({
      name: 'boxoffice_provider_drift_age_seconds',
      help: 'Time since the last comparison with the payment provider.',
      // Every process shows the comparison of the whole deployment.
      aggregator: 'max',
      registers: [registry],
    }),
  };
}
