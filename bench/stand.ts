/** The environment of a benchmark: a durable database of its own, and processes that use it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { KeyKind } from '../src/access/keys/api-key.ts';
import { migrate } from '../src/base/db/migrate.ts';
import { openPool, type Pool } from '../src/base/db/pool.ts';
import type { TenantId } from '../src/base/tenants/tenant.ts';
import { startEmbedded } from '../src/run/embedded-postgres/embedded-postgres.ts';
import type { PostgresServer } from '../test/deploy/postgres-server.ts';
import { makeKey, makeTenant } from '../test/support/tenants.ts';
import type { Bench, Facts } from './benchmark.ts';
import { parentOf } from './cpu-meter.ts';

export interface Stand {
  readonly databaseUrl: string;
  /** For setup and counting, not for the measurement. */
  readonly db: Pool;
  /** The servers of a distributed database, the coordinator first. */
  readonly servers?: readonly PostgresServer[];
}

/** A migrated database. fsync and synchronous_commit are on, as in production. */
export async function openStand(bench: Bench): Promise<Stand> {
  bench.progress('starting a database');
  const dataDir = await bench.use(makeFolder(), (path) =>
    // A process of the server may still be ending, and write a last file.
    rm(path, { recursive: true, force: true, maxRetries: 10 }),
  );
  const log = { info: () => {}, warn: () => {} };
  const embedded = await bench.use(startEmbedded({ dataDir, log }), (opened) => opened.stop());
  const db = openPool(embedded.url, { max: 4, applicationName: 'bench' });
  await bench.use(Promise.resolve(db), () => db.end());
  await migrate(db);
  bench.measuredOn(await factsOf(db));
  return { databaseUrl: embedded.url, db };
}

/** To write many rows: not through the pool, which cancels a statement after some seconds. */
export async function onLongClient<T>(stand: Stand, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(stand.databaseUrl);
  await client.connect();
  try {
    await client.query('set synchronous_commit = off');
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The PostgreSQL process that forks the connections' processes, of each server. `undefined` where there is no /proc. */
export async function findPostmaster(stand: Stand): Promise<number | readonly number[] | undefined> {
  if (stand.servers) return stand.servers.map((server) => server.processes()[0]!);
  const { rows } = await stand.db.query<{ pid: number }>('select pg_backend_pid() as pid');
  return parentOf(rows[0]!.pid);
}

/** A temporary folder for one run. */
export function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'boxoffice-bench-'));
}

export async function factsOf(db: Pool): Promise<Facts> {
  const { rows } = await db.query<Facts>(
    `select current_setting('server_version') as postgres, current_setting('fsync') as fsync,
            current_setting('synchronous_commit') as "synchronousCommit"`,
  );
  return rows[0]!;
}

export interface Service {
  /** One for each process. */
  readonly urls: readonly string[];
  /** Resident memory of each process, in MB. */
  memoryMb(): Promise<number[]>;
}

/** The service on the database of `stand`, in one process or in several. */
export async function openService(
  bench: Bench,
  stand: Stand,
  { processes = 1 }: { readonly processes?: number } = {},
): Promise<Service> {
  bench.progress('starting the service');
  const opened: BenchProcess[] = [];
  for (let count = 0; count < processes; count += 1) {
    opened.push(await openProcess(bench, stand, './service.ts'));
  }
  return {
    urls: opened.map(({ url }) => url),
    memoryMb: () => Promise.all(opened.map((each) => each.memoryMb())),
  };
}

/** A process that calls `announce()` of `process.ts`. */
export interface BenchProcess {
  readonly url: string;
  readonly pid: number;
  memoryMb(): Promise<number>;
  /** The 99th percentile since the last question. The first one starts the measurement. */
  eventLoopDelayMs(): Promise<number>;
  /** Stop it before the benchmark ends. */
  stop(): Promise<void>;
  /** Kill it at once. */
  kill(): Promise<void>;
}

/** MALLOC_ARENA_MAX as `npm start` sets it: it trades speed for memory. */
const NODE_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=100'];

/** Run the program `file` (relative to this folder) with DATABASE_URL and `environment`. */
export async function openProcess(
  bench: Bench,
  stand: Stand,
  file: string,
  environment: NodeJS.ProcessEnv = {},
): Promise<BenchProcess> {
  const child = spawn(process.execPath, [...NODE_FLAGS, new URL(file, import.meta.url).pathname], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, MALLOC_ARENA_MAX: '1', DATABASE_URL: stand.databaseUrl, ...environment },
  });
  const end = async (signal: NodeJS.Signals) => {
    if (hasEnded(child)) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  const stop = () => end('SIGTERM');
  const { url } = await bench.use(nextMessage<{ url: string }>(child, file), stop);
  return {
    url,
    pid: child.pid!,
    stop,
    kill: () => end('SIGKILL'),
    memoryMb: async () => {
      const answer = nextMessage<{ rss: number }>(child, file);
      child.send('memory');
      return (await answer).rss / 1024 / 1024;
    },
    eventLoopDelayMs: async () => {
      const answer = nextMessage<{ delayMs: number }>(child, file);
      child.send('event loop delay');
      return (await answer).delayMs;
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function nextMessage<T>(child: ChildProcess, file: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error(`${file} ended too early`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as T);
    });
  });
}

export interface BenchTenant {
  readonly tenant: TenantId;
  readonly keyId: string;
  /** The plaintext. */
  readonly key: string;
}

/** An active tenant with one key, created directly in the database. */
export async function makeBenchTenant(stand: Stand, kind: KeyKind): Promise<BenchTenant> {
  const tenant = await makeTenant(stand.db, { status: 'active' });
  const key = await makeKey(stand.db, tenant, kind);
  // The most that a limit may be: a benchmark sends as much with one key as the service can answer.
  await stand.db.query(`update tenants set limits = '{"key_requests_per_minute": 1000000}' where id = $1`, [
    tenant,
  ]);
  return { tenant, keyId: key.id, key: key.plaintext };
}
