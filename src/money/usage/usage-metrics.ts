/** Metrics of charged usage. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Result of one batch. */
export interface ChargeCounts {
  readonly charged: number;
  readonly duplicates: number;
  readonly unbilled: number;
  readonly conflicts: number;
  readonly total: bigint;
}

export type UsageMetrics = ReturnType<typeof usageMetrics>;

export function usageMetrics(registry: Registry) {
  const batchSize = new Histogram({
    name: 'boxoffice_charge_batch_records',
    help: 'Records in a batch of usage records.',
    buckets: [0, 1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
    registers: [registry],
  });
  const records = new Counter({
    name: 'boxoffice_usage_records_total',
    help: 'Usage records by outcome. A conflict is a duplicate with different values.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const charged = new Counter({
    name: 'boxoffice_charged_micros_total',
    help: 'Micros charged for usage.',
    registers: [registry],
  });
  return {
    chargeDuration: new Histogram({
      name: 'boxoffice_charge_duration_seconds',
      help: 'Time to charge a batch, from receiving its records to the commit.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    }),
    /** Export how full the queue is, read at each scrape. */
    watchChargeQueue: (queue: { readonly unanswered: number }): void => {
      const gauge = new Gauge({
        name: 'boxoffice_charge_queue_records',
        help: 'Usage records that wait for their transaction, or are in it. A batch counts as 50 at least, and 256 bytes as one.',
        registers: [registry],
        collect: () => {
          gauge.set(queue.unanswered);
        },
      });
    },
    countCharge: (count: number, counts: ChargeCounts): void => {
      batchSize.observe(count);
      records.inc({ outcome: 'charged' }, counts.charged);
      records.inc({ outcome: 'duplicate' }, counts.duplicates);
      records.inc({ outcome: 'unbilled' }, counts.unbilled);
      records.inc({ outcome: 'conflict' }, counts.conflicts);
      charged.inc(Number(counts.total));
    },
  };
}
