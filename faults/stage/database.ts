/** The PostgreSQL of a campaign, as `npm start` starts it: it is killed, loses power, and starts again on the same port. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { openPool, type Pool } from '../../src/base/db/pool.ts';
import {
  type Cluster,
  findPostmaster,
  openCluster,
  startPostmaster,
} from '../../src/run/embedded-postgres/cluster.ts';
import { startEmbedded } from '../../src/run/embedded-postgres/embedded-postgres.ts';
import { findLastingPort } from '../../test/deploy/lasting-port.ts';
import { postgresOf, signal } from '../../test/deploy/processes.ts';
import { type Clock, openClock } from './clock.ts';
import { type Disk, openDisk } from './disk.ts';
import { Gone, Missing } from './gone.ts';

const HOST = '127.0.0.1';
const SILENT = { info: () => {}, warn: () => {} };

/** Recovery after a crash takes some seconds, or a minute on a machine that has much else to do. */
const START_MS_MAX = 150_000;

export type Role = 'boxoffice' | 'boxoffice_app' | 'postgres';

export class Database {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly port: number;
  readonly #cluster: Cluster;
  #last: Promise<void> = Promise.resolve();

  private constructor(disk: Disk, clock: Clock, port: number, cluster: Cluster) {
    this.disk = disk;
    this.clock = clock;
    this.port = port;
    this.#cluster = { ...cluster, program: clock.program };
  }

  /**
   * `durable: false` sets `fsync=off`. `note` is told of each folder that it makes. Throws `Missing` if its machine has to lose power, and
   * cannot.
   */
  static async open({
    durable = true,
    losesPower = false,
    note = (_folder: string) => {},
  } = {}): Promise<Database> {
    const disk = await openDisk();
    note(dirname(disk.folder));
    try {
      if (losesPower && disk.limits !== undefined) throw new Missing(disk.limits);
      const dataDir = join(disk.folder, 'data');
      // It makes the roles and the database.
      const embedded = await startEmbedded({ dataDir, log: SILENT, durable });
      await embedded.stop();
      const cluster = await openCluster(dataDir, durable, SILENT);
      const clock = openClock(cluster.program);
      if (clock.limits === undefined) note(clock.program.home);
      const database = new Database(disk, clock, await findLastingPort(HOST), cluster);
      await database.start();
      // Otherwise a loss of power could destroy the server, and not only what was written last.
      await disk.sync();
      return database;
    } catch (error) {
      await disk.remove();
      throw error;
    }
  }

  url(role: Role, port: number = this.port): string {
    return `postgres://${role}:${this.#cluster.password}@${HOST}:${port}/boxoffice`;
  }

  /** As the owner, without the proxy, for what the campaign itself does. */
  openPool(max = 4): Pool {
    return openPool(this.url('boxoffice'), { max, applicationName: 'boxoffice faults' });
  }

  get isRunning(): boolean {
    return findPostmaster(this.#cluster)?.status === 'ready';
  }

  /** Resolves when it takes connections; at once if it does. Throws `Gone` if it does not come in time. */
  start(): Promise<void> {
    return this.#inTurn(() => this.#start());
  }

  /** All its processes die at once. Resolves when they are gone. */
  kill(): Promise<void> {
    return this.#inTurn(() => end(this.processes()));
  }

  /** What was not synced is gone. It does not run afterwards. */
  losePower(): Promise<void> {
    return this.#inTurn(async () => {
      // Afterwards, its files may not be read.
      const pids = this.processes();
      await this.disk.losePower();
      await end(pids);
      await this.disk.mountAgain();
    });
  }

  /** The postmaster and its processes; none if it does not run. */
  processes(): number[] {
    return findPostmaster(this.#cluster) === undefined ? [] : postgresOf(this.#cluster.dir);
  }

  /** Copy it, as `DATA_DIR` of a service, and end it. */
  async keep(folder: string): Promise<void> {
    await this.kill();
    await copyData(this.#cluster.dataDir, folder);
  }

  async close(): Promise<void> {
    await this.kill().catch(() => {});
    await this.clock.remove();
    await this.disk.remove();
  }

  async #start(): Promise<void> {
    let why: unknown;
    for (const begun = performance.now(); !this.isRunning; await sleep(100)) {
      if (performance.now() - begun > START_MS_MAX)
        throw new Gone(
          `PostgreSQL does not start any more: ${(why as Error | undefined)?.message ?? 'without a reason'}`,
        );
      // Another process on the port, or a server of before that is not quite gone, is waited for.
      const launched = await startPostmaster(this.#cluster, { port: this.port }).catch((error: unknown) => {
        why = error;
      });
      launched?.letGo();
    }
  }

  /** Faults of several lanes, and controls, start and end it one after another. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => {});
    return turn;
  }
}

/** Its files stay those of the account that PostgreSQL runs as. */
export async function copyData(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to]);
}

async function end(pids: readonly number[]): Promise<void> {
  signal(pids, 'SIGKILL');
  while (pids.some((pid) => existsSync(`/proc/${pid}`))) await sleep(10);
}
