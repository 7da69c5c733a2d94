/** Metrics of joins. */
import { Counter, type Registry } from 'prom-client';

export type JoinMetrics = ReturnType<typeof joinMetrics>;

export function joinMetrics(registry: Registry) {
  return {
    joins: new Counter({
      name: 'boxoffice_joins_total',
      help: 'Joins by outcome: joined, or the reason for the failure.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  };
}
