/** One worker compared with two, on one database. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { makeKey } from '../test/support/tenants.ts';
import type { Bench, Benchmark, Contestant } from './benchmark.ts';
import { CpuMeter } from './cpu-meter.ts';
import { requestBytes, runLoad } from './load.ts';
import { findPostmaster, makeBenchTenant, openStand, type Stand } from './stand.ts';
import { makeRows, usageRequest } from './usage-records.ts';

const MAIN = fileURLToPath(new URL('../src/run/main.ts', import.meta.url));
const WORKERS = [1, 2];
const CONNECTIONS = 64;
const RECORDS = 10;
const SECONDS_PER_ROUND = 1.5;

export const workers: Benchmark = {
  name: 'workers',
  summary: 'WORKERS=1 compared with WORKERS=2, on one database: small batches, reads, and no database',
  protocol: `The service as npm start starts it, with WORKERS=1 and with WORKERS=2, at the same time on one database; while
    one is measured the other is idle. ${CONNECTIONS} connections, each for a tenant of its own, send a request as soon as they
    have their answer, for ${SECONDS_PER_ROUND} s a round: batches of ${RECORDS} new records to POST /v1/usage, then GET /v1/billing of the same
    tenants, then GET of an unknown path, which needs no database. The result is answers per second. CPU is the share of one core that the processes used, on average over all
    rounds (Linux only): the client, the service with all its processes, and PostgreSQL. Where the three together
    are near the number of cores, the machine is the limit.`,
  async run(bench) {
    const stand = await openStand(bench);
    const postmaster = await findPostmaster(stand);
    const sides: Side[] = [];
    for (const count of WORKERS) sides.push(await openSide(bench, stand, count));
    for (const [title, request] of [
      [`POST /v1/usage, ${RECORDS} records`, report],
      ['GET /v1/billing', readBilling],
      ['a path that is not there', askForNothing],
    ] as const) {
      const meters = sides.map(
        ({ pid }) => new CpuMeter({ 'the client': process.pid, 'the service': pid, PostgreSQL: postmaster }),
      );
      await bench.compare({
        title,
        unit: 'requests/s',
        contestants: sides.map((side, index) => contestant(side, meters[index]!, request)),
      });
      for (const [index, side] of sides.entries()) {
        for (const [who, cores] of meters[index]!.cores) {
          bench.note(`${title}, ${side.name}: CPU of ${who}`, cores, 'cores');
        }
      }
    }
  },
};

interface Reporter {
  readonly relayKey: string;
  readonly backendKey: string;
  /** Number of records so far. */
  sent: number;
}

/** A service, and the tenants that use it. */
interface Side {
  readonly name: string;
  readonly workers: number;
  readonly url: string;
  readonly pid: number;
  readonly reporters: readonly Reporter[];
}

async function openSide(bench: Bench, stand: Stand, count: number): Promise<Side> {
  const name = count === 1 ? '1 worker' : `${count} workers`;
  bench.progress(`starting ${name}`);
  const child = spawn(process.execPath, [MAIN], {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: {
      ...process.env,
      DATABASE_URL: stand.databaseUrl,
      SECRETS_KEY: Buffer.alloc(32).toString('base64'),
      WORKERS: String(count),
      PORT: '0',
      OPS_PORT: '0',
      GRPC_PORT: '0',
      PAYMENTS: 'none',
      LOG_LEVEL: 'warn',
    },
  });
  const ended = once(child, 'exit');
  const url = await bench.use(readUrl(child), async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const reporters = await Promise.all(Array.from({ length: CONNECTIONS }, () => makeReporter(stand)));
  return { name, workers: count, url, pid: child.pid!, reporters };
}

/** The address that the service prints when it has started. */
function readUrl(child: ChildProcessByStdio<null, null, Readable>): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the service did not start: ${said}`)));
    child.stderr.on('data', (part) => {
      said += part;
      const url = /REST API +(http:\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
}

async function makeReporter(stand: Stand): Promise<Reporter> {
  const { tenant, key: relayKey } = await makeBenchTenant(stand, 'relay');
  const { plaintext: backendKey } = await makeKey(stand.db, tenant, 'backend');
  return { relayKey, backendKey, sent: 0 };
}

type MakeRequest = (side: Side, connection: number) => Buffer;

const report: MakeRequest = ({ url, workers: side, reporters }, connection) => {
  const reporter = reporters[connection]!;
  const rows = makeRows(side * CONNECTIONS + connection, reporter.sent, RECORDS);
  reporter.sent += RECORDS;
  return usageRequest(url, reporter.relayKey, rows);
};

const readBilling: MakeRequest = ({ url, reporters }, connection) =>
  requestBytes('GET', `${url}/v1/billing`, { token: reporters[connection]!.backendKey });

const askForNothing: MakeRequest = ({ url }) => requestBytes('GET', `${url}/v1/nothing`);

function contestant(side: Side, meter: CpuMeter, makeRequest: MakeRequest): Contestant {
  return {
    name: side.name,
    role: side.workers === 1 ? 'floor' : 'ours',
    round: async () => {
      meter.start();
      const { rate, latencies } = await runLoad({
        urls: [side.url],
        connections: CONNECTIONS,
        request: (_, connection) => makeRequest(side, connection),
        until: { seconds: SECONDS_PER_ROUND },
        statuses: [makeRequest === askForNothing ? 404 : 200],
      });
      meter.stop();
      return { value: rate, latencies };
    },
  };
}
