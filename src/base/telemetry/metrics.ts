/** Metrics. Names and units follow Prometheus: seconds, counters end in `_total`. */
import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Pool } from '../db/pool.ts';

/** Result of one batch. */
export interface ChargeCounts {
  readonly charged: number;
  readonly duplicates: number;
  readonly unbilled: number;
  readonly conflicts: number;
  readonly total: bigint;
}

const MANIFEST = new URL('../../../package.json', import.meta.url);
const { version: VERSION } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string };

/** Gauges that the library names like counters. They are sums of gauges that are also there, by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

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
    help: 'Time from receiving the request headers to the end of the response, by route.',
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
    help: 'Time from receiving the call headers to the end of the call, by method. Streams last until they close.',
    labelNames: ['method'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15],
    registers: [this.registry],
  });
  readonly chargeDuration = new Histogram({
    name: 'boxoffice_charge_duration_seconds',
    help: 'Time to charge a batch, from receiving its records to the commit.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [this.registry],
  });
  readonly mails = new Counter({
    name: 'boxoffice_mails_total',
    help: 'Mails, by outcome: sent, retried, failed, expired (with its link), kept (no mail server is configured), suppressed (limit of a day).',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly limitRefusals = new Counter({
    name: 'boxoffice_limit_refusals_total',
    help: 'Requests refused because the tenant was at a limit, by the name of the limit.',
    labelNames: ['limit'],
    registers: [this.registry],
  });
  readonly joins = new Counter({
    name: 'boxoffice_joins_total',
    help: 'Joins by outcome: joined, or the reason for the failure.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly listenerLagEvents = new Gauge({
    name: 'boxoffice_listener_lag_events',
    help: 'Events that a listener has not handled yet, over all tenants.',
    labelNames: ['listener'],
    // Every process measures the whole deployment.
    aggregator: 'max',
    registers: [this.registry],
  });
  readonly listenerLagSeconds = new Gauge({
    name: 'boxoffice_listener_lag_seconds',
    help: 'Age of the oldest event that a listener has not handled yet.',
    labelNames: ['listener'],
    // Every process measures the whole deployment.
    aggregator: 'max',
    registers: [this.registry],
  });
  readonly sightingsDropped = new Counter({
    name: 'boxoffice_sightings_dropped_total',
    help: 'Usage records whose presence information was dropped because the write queue was full. All were charged.',
    registers: [this.registry],
  });
  readonly topUps = new Counter({
    name: 'boxoffice_top_ups_total',
    help: 'Settled payments and failed automatic top-ups, by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    registers: [this.registry],
  });
  readonly deletedTenantPayments = new Counter({
    name: 'boxoffice_deleted_tenant_payments_total',
    help: 'Provider events about payments of deleted tenants. They are parked: refund the payments at the provider.',
    registers: [this.registry],
  });
  readonly parkedNotifications = new Gauge({
    name: 'boxoffice_parked_notifications',
    help: 'Notifications of the payment provider that could not be applied: parked, or failing and tried again.',
    labelNames: ['state'],
    // Every process counts the whole deployment.
    aggregator: 'max',
    registers: [this.registry],
  });
  readonly watchdogLooks = new Counter({
    name: 'boxoffice_watchdog_looks_total',
    help: 'Watchdog checks by outcome. A failed check is repeated.',
    labelNames: ['outcome'],
    registers: [this.registry],
  });
  readonly watchdogLateness = new Histogram({
    name: 'boxoffice_watchdog_lateness_seconds',
    help: 'Time from the deadline of a watchdog to the commit of its action.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 600],
    registers: [this.registry],
  });
  readonly webhookDeliveries = new Counter({
    name: 'boxoffice_webhook_deliveries_total',
    help: 'Attempts to send an event to a webhook, by kind and outcome: delivered, refused (another status than 2xx) or unanswered.',
    labelNames: ['kind', 'outcome'],
    registers: [this.registry],
  });
  readonly webhookDuration = new Histogram({
    name: 'boxoffice_webhook_duration_seconds',
    help: 'Time from the start of a request to a webhook to its outcome.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers: [this.registry],
  });
  readonly webhookCuts = new Counter({
    name: 'boxoffice_webhook_cuts_total',
    help: 'Requests to slow receivers that were cut off because other webhooks needed their place.',
    registers: [this.registry],
  });
  readonly webhooksPaused = new Gauge({
    name: 'boxoffice_webhooks_paused',
    help: 'Webhooks that the service has paused, because their deliveries failed.',
    // Every process counts the whole deployment.
    aggregator: 'max',
    registers: [this.registry],
  });
  readonly webhookLag = new Gauge({
    name: 'boxoffice_webhook_lag_seconds',
    help: 'Age of the oldest event that waits for a webhook which is not paused.',
    // Every process measures the whole deployment.
    aggregator: 'max',
    registers: [this.registry],
  });
  readonly balanceRefusals = new Counter({
    name: 'boxoffice_balance_refusals_total',
    help: 'Charges and payments refused because the balance would leave the range of 64 bits. Adjust the balance.',
    registers: [this.registry],
  });
  readonly ledgerDrift = new Gauge({
    name: 'boxoffice_ledger_drift_micros',
    help: 'Difference in micros between tenant balances and their ledgers, as last checked. Anything but 0 is a bug.',
    // Every process checks the same tenants.
    aggregator: 'max',
    registers: [this.registry],
  });
  readonly providerDrift = new Gauge({
    name: 'boxoffice_provider_drift',
    help: 'Payments, refunds and disputes that differ from those of the payment provider, as last compared.',
    // Every process shows the comparison of the whole deployment.
    aggregator: 'max',
    registers: [this.registry],
  });
  readonly providerDriftAge = new Gauge({
    name: 'boxoffice_provider_drift_age_seconds',
    help: 'Time since the last comparison with the payment provider.',
    // Every process shows the comparison of the whole deployment.
    aggregator: 'max',
    registers: [this.registry],
  });

  readonly #batchSize = new Histogram({
    name: 'boxoffice_charge_batch_records',
    help: 'Records in a batch of usage records.',
    buckets: [0, 1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000],
    registers: [this.registry],
  });
  readonly #records = new Counter({
    name: 'boxoffice_usage_records_total',
    help: 'Usage records by outcome. A conflict is a duplicate with different values.',
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
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    new Gauge({
      name: 'boxoffice_build_info',
      help: 'Version of the service and of Node; the value is always 1.',
      labelNames: ['version', 'node'],
      // All processes of a deployment run the same.
      aggregator: 'first',
      registers: [this.registry],
    }).set({ version: VERSION, node: process.version }, 1);
  }

  countCharge(records: number, counts: ChargeCounts): void {
    this.#batchSize.observe(records);
    this.#records.inc({ outcome: 'charged' }, counts.charged);
    this.#records.inc({ outcome: 'duplicate' }, counts.duplicates);
    this.#records.inc({ outcome: 'unbilled' }, counts.unbilled);
    this.#records.inc({ outcome: 'conflict' }, counts.conflicts);
    this.#charged.inc(Number(counts.total));
  }

  /** Export how full the lanes of webhooks are, read at each scrape. */
  watchWebhookLanes(count: () => readonly { lane: string; taken: number; waiting: number }[]): void {
    const gauge = new Gauge({
      name: 'boxoffice_webhook_lanes',
      help: 'Webhooks that have a place in a lane, and those that wait for one, by lane and state.',
      labelNames: ['lane', 'state'],
      registers: [this.registry],
      collect: () => {
        for (const { lane, taken, waiting } of count()) {
          gauge.set({ lane, state: 'taken' }, taken);
          gauge.set({ lane, state: 'waiting' }, waiting);
        }
      },
    });
  }

  /** Export the use of the pool, read at each scrape. */
  watchPools(pools: readonly Pool[]): void {
    const sum = (count: (pool: Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
    const gauge = new Gauge({
      name: 'boxoffice_pool_connections',
      help: 'Database connections by state; `waiting` counts requests that wait for a connection.',
      labelNames: ['state'],
      registers: [this.registry],
      collect: () => {
        gauge.set(
          { state: 'idle' },
          sum((pool) => pool.idleCount),
        );
        gauge.set(
          { state: 'busy' },
          sum((pool) => pool.totalCount - pool.idleCount),
        );
        gauge.set(
          { state: 'waiting' },
          sum((pool) => pool.waitingCount),
        );
      },
    });
  }
}
