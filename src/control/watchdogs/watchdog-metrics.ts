/** Metrics of watchdogs. */
import { Counter, Histogram, type Registry } from 'prom-client';

export type WatchdogMetrics = ReturnType<typeof watchdogMetrics>;

export function watchdogMetrics(registry: Registry) {
  return {
    watchdogLooks: new Counter({
      name: 'boxoffice_watchdog_looks_total',
      help: 'Watchdog checks by outcome. A failed check is repeated.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    watchdogLateness: new Histogram({
      name: 'boxoffice_watchdog_lateness_seconds',
      help: 'Time from the deadline of a watchdog to the commit of its action.',
      buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600],
      registers: [registry],
    }),
  };
}
