/** Metrics of the revocation feed. */
import { Gauge, type Registry } from 'prom-client';

export type RevocationMetrics = ReturnType<typeof revocationMetrics>;

export function revocationMetrics(registry: Registry) {
  return {
    revocationFollowers: new Gauge({
      name: 'boxoffice_revocation_followers',
      help: 'Open streams and waiting polls of revocations, with a relay key (relay) or without (none).',
      labelNames: ['key'],
      registers: [registry],
    }),
  };
}
