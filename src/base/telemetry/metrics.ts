/** The registry of metrics. Names and units follow Prometheus: seconds, counters end in `_total`. */
import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Pool } from '../db/pool.ts';

const MANIFEST = new URL('../../../package.json', import.meta.url);
const { version: VERSION } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string };

/** Gauges that the library names like counters. They are sums of gauges that are also there, by type. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Metrics of requests, calls, the database and the process. Features declare their own beside themselves. */
export class BaseMetrics {
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
  readonly limitRefusals = new Counter({
    name: 'boxoffice_limit_refusals_total',
    help: 'Requests refused because the tenant was at a limit, by the name of the limit.',
    labelNames: ['limit'],
    registers: [this.registry],
  });

  readonly databaseServers = new Gauge({
    name: 'boxoffice_database_server_reachable',
    help: 'Of several database servers, each that has tenants: 1 if it answers, 0 if it is away.',
    labelNames: ['server'],
    // Every process shows what the coordinator says.
    aggregator: 'min',
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
