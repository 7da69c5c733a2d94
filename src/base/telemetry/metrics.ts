/** What is measured. Names and units follow Prometheus: seconds, counters end in `_total`. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Pool } from '../db/pool.ts';

/** What one batch came to. */
export interface ChargeCounts {
  readonly charged: number;
  readonly duplicates: number;
  readonly unbilled: number;
  readonly conflicts: number;
  readonly total: bigint;
}

export class Metrics {
  readonly registry = new Registry();

  readonly requests = new Counter({
    name: 'boxoffice_http_requests_total',
    help: 'Requests answered, by route and status.',
    labelNames: ['method', 'route', 'status'],
    registers: [this.registry],
  });
  readonly requestDuration = new Histogram({
    name: 'boxoffice_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer, by route.',
    labelNames: ['method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers: [this.registry],
  });
  readonly calls = new Counter({
    name: 'boxoffice_grpc_calls_total',
    help: 'gRPC calls ended, by method and code.',
    labelNames: ['method', 'code'],
    registers: [this.registry],
  });
  readonly callDuration = new Histogram({
    name: 'boxoffice_grpc_call_duration_seconds',
    help: 'Time from the head of a call to its end, by method. Streams last as long as somebody follows them.',
    labelNames: ['method'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers: [this.registry],
  });
  readonly chargeDuration = new Histogram({
    name: 'boxoffice_charge_duration_seconds',
    help: 'Time to charge a batch, from its records to its commit.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });
  readonly joins = new Counter({
    name: 'boxoffice_joins_total',
    help: 'Joins, by what became of them: joined, or why not.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly listenerLagEvents = new Gauge({
    name: 'boxoffice_listener_lag_events',
    help: 'Events that a listener has yet to handle, in all tenants.',
    labelNames: ['listener'],
    registers: [this.registry],
  });
  readonly listenerLagSeconds = new Gauge({
    name: 'boxoffice_listener_lag_seconds',
    help: 'How long the oldest event has waited that a listener has yet to handle.',
    labelNames: ['listener'],
    registers: [this.registry],
  });
  readonly sightingsDropped = new Counter({
    name: 'boxoffice_sightings_dropped_total',
    help: 'Usage records that told of participants while too many others waited to be written. None was left uncharged.',
    registers: [this.registry],
  });
  readonly topUps = new Counter({
    name: 'boxoffice_top_ups_total',
    help: 'Payments that were settled, and automatic top-ups that were not, by outcome.',
    labelNames: ['kind', 'outcome'],
    registers: [this.registry],
  });
  readonly watchdogLooks = new Counter({
    name: 'boxoffice_watchdog_looks_total',
    help: 'Looks at watchdogs, by what they came to; one that failed is looked at again.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly watchdogLateness = new Histogram({
    name: 'boxoffice_watchdog_lateness_seconds',
    help: 'Time from the deadline of a watchdog to the commit of what it did.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600],
    registers: [this.registry],
  });
  readonly ledgerDrift = new Gauge({
    name: 'boxoffice_ledger_drift_micros',
    help: 'Micros by which the balances of tenants checked last differ from their ledgers. Anything but 0 is a bug.',
    // Every process adds up the same tenants.
    aggregator: 'max',
    registers: [this.registry],
  });

  readonly #batchSize = new Histogram({
    name: 'boxoffice_charge_batch_records',
    help: 'Records in a batch of usage.',
    buckets: [0, 1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
    registers: [this.registry],
  });
  readonly #records = new Counter({
    name: 'boxoffice_usage_records_total',
    help: 'Usage records, by what became of them. A conflict is a duplicate that came with other values.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly #charged = new Counter({
    name: 'boxoffice_charged_micros_total',
    help: 'Micros charged for usage.',
    registers: [this.registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.registry });
  }

  countCharge(records: number, counts: ChargeCounts): void {
    this.#batchSize.observe(records);
    this.#records.inc({ outcome: 'charged' }, counts.charged);
    this.#records.inc({ outcome: 'duplicate' }, counts.duplicates);
    this.#records.inc({ outcome: 'unbilled' }, counts.unbilled);
    this.#records.inc({ outcome: 'conflict' }, counts.conflicts);
    this.#charged.inc(Number(counts.total));
  }

  /** Show how the pool is used, read when somebody asks. */
  watchPool(pool: Pool): void {
    const gauge = new Gauge({
      name: 'boxoffice_pool_connections',
      help: 'Database connections by state; `waiting` are requests that wait for one.',
      labelNames: ['state'],
      registers: [this.registry],
      collect: () => {
        gauge.set({ state: 'idle' }, pool.idleCount);
        gauge.set({ state: 'busy' }, pool.totalCount - pool.idleCount);
        gauge.set({ state: 'waiting' }, pool.waitingCount);
      },
    });
  }
}
