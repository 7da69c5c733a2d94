/** Breaks down the time of a large batch. */
import pg from 'pg';
import { Pipeline } from '../src/base/db/pipeline.ts';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import { readPlainUsage } from '../src/doors/rest/usage-body.ts';
import { INITIAL_CARRY } from '../src/money/pricing/carry.ts';
import { CURRENT_RULE, type Terms } from '../src/money/pricing/pricing-rule.ts';
import { BUILT_IN_RATES, parseRateCard } from '../src/money/pricing/rate-card.ts';
import { Buffers, copyRows } from '../src/money/records/copy-rows.ts';
import type { UsageRecords } from '../src/money/records/usage-records.ts';
import { settleRecords } from '../src/money/usage/bill.ts';
import { startService } from '../src/run/service.ts';
import type { Bench, Benchmark } from './benchmark.ts';
import { runLoad } from './load.ts';
import { log, serviceConfig } from './settings.ts';
import { makeBenchTenant, openStand } from './stand.ts';
import { median } from './statistics.ts';
import { makeRows, usageRequest } from './usage-records.ts';

const BATCH = 5_000;
const BATCHES = 60;
const WARM_UP = 20;
const TERMS: Terms = {
  rates: { version: 1, ...parseRateCard(BUILT_IN_RATES) },
  rule: CURRENT_RULE,
  rounding: 'carry',
};

export const budget: Benchmark = {
  name: 'budget',
  minutes: 1,
  summary: 'where the time of a batch of 5,000 records goes, stage by stage',
  protocol: `The service runs in the process of the benchmark, which sends it ${BATCHES} batches of ${BATCH} new records of one
    tenant, one after the other. Each statement is timed from its call to its result; then the work between
    them is repeated separately, on the same bodies. The results are medians without the first
    ${WARM_UP}. The stages do not add up to the whole: rows are written while PostgreSQL stores those before them, and the
    whole holds the work of the client.`,
  async run(bench) {
    const bodies = Array.from({ length: BATCHES }, (_, batch) => makeRows(1, batch * BATCH, BATCH));
    const stand = await openStand(bench);
    const statements = timeStatements();
    const opening = startService(serviceConfig(stand.databaseUrl), log);
    const { port } = await bench.use(opening, (service) => service.stop());
    const { key } = await makeBenchTenant(stand, 'relay');
    const url = `http://127.0.0.1:${port}`;
    const requests = bodies.map((rows) => usageRequest(url, key, rows));
    statements.clear();

    bench.progress('charging batches');
    const { latencies } = await runLoad({
      urls: [url],
      connections: 1,
      request: (index) => requests[index]!,
      until: { requests: BATCHES },
      statuses: [200],
    });
    bench.note('the whole request', median(latencies.slice(WARM_UP)), 'ms');
    for (const [name, times] of statements) {
      if (times.length >= BATCHES) bench.note(name, median(times.slice(-BATCHES).slice(WARM_UP)), 'ms');
    }
    timeStages(
      bench,
      requests.map((request) => bodyOf(request)),
    );
  },
};

/** Measures the duration of statements from now on, by their name or their first word. */
function timeStatements(): Map<string, number[]> {
  const times = new Map<string, number[]>();
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  const timed = function (this: pg.Client, ...given: unknown[]): unknown {
    const start = performance.now();
    const name = nameOf(given[0]);
    const done = () => times.set(name, [...(times.get(name) ?? []), performance.now() - start]);
    const statements = given[0];
    if (statements instanceof Pipeline) {
      const { callback } = statements;
      statements.callback = (...results) => {
        done();
        callback(...results);
      };
    }
    const result = query.apply(this, given);
    // The pool's own queries use a callback and return nothing.
    if (result instanceof Promise) void result.then(done, () => {});
    return result;
  };
  Object.assign(pg.Client.prototype, { query: timed });
  return times;
}

function nameOf(statement: unknown): string {
  if (statement instanceof Pipeline) {
    return `statements: ${statement.statements.map(({ name }) => name).join(', ')}`;
  }
  if (typeof statement === 'string') return `statement: ${statement.split(' ')[0]}`;
  const { name, text } = statement as { name?: string; text: string };
  return `statement: ${name ?? text.split(' ')[0]}`;
}

function bodyOf(request: Buffer): Buffer {
  return request.subarray(request.indexOf('\r\n\r\n') + 4);
}

/** The work between the statements. */
function timeStages(bench: Bench, bodies: readonly Buffer[]): void {
  const times = { read: [], order: [], price: [], write: [] } as Record<string, number[]>;
  const stage = <T>(name: string, work: () => T): T => {
    const start = performance.now();
    const result = work();
    times[name]!.push(performance.now() - start);
    return result;
  };
  for (const body of bodies) {
    const records = stage('read', () => readPlainUsage(body, ''))!;
    stage('order', () => records.sortById());
    const lines = records.rows();
    const settled = stage('price', () => settleRecords(records, lines, TERMS, INITIAL_CARRY));
    stage('write', () => drain(records, lines, settled));
  }
  for (const [name, values] of Object.entries(times)) {
    bench.note(`${name} ${BATCH} records`, median(values.slice(WARM_UP)), 'ms');
  }
}

function drain(records: UsageRecords, lines: Int16Array, settled: ReturnType<typeof settleRecords>): number {
  const buffers = new Buffers();
  const charged = [{ records, lines, count: records.length, ...settled }];
  let bytes = 0;
  for (const piece of copyRows([{ tenant: 1n as TenantId, seq: 1n, charged }], buffers))
    bytes += piece.length;
  buffers.giveBack();
  return bytes;
}
