/** Metrics of payments. */
import { Counter, type Registry } from 'prom-client';

export type TopUpMetrics = ReturnType<typeof topUpMetrics>;

export function topUpMetrics(registry: Registry) {
  return {
    topUps: new Counter({
      name: 'boxoffice_top_ups_total',
      help: 'Settled payments and failed automatic top-ups, by kind and outcome.',
      labelNames: ['kind', 'outcome'],
      registers: [registry],
    }),
  };
}
