/** Metrics of what the payment provider tells. */
import { Counter, type Registry } from 'prom-client';

export type ProviderEventMetrics = ReturnType<typeof providerEventMetrics>;

export function providerEventMetrics(registry: Registry) {
  return {
    deletedTenantPayments: new Counter({
      name: 'boxoffice_deleted_tenant_payments_total',
      help: 'Provider events about payments of deleted tenants. They are parked: refund the payments at the provider.',
      registers: [registry],
    }),
  };
}
