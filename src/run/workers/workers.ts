/**
 * Several processes that serve as one. They share a listening socket for each port; the process that was
 * started accepts connections and hands them to its workers in turns.
 */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Watched } from '../../doors/ops/server.ts';
import { openOps, portOf, type ServiceConfig } from '../service.ts';
import type { WorkerSettings } from './messages.ts';
import { SummedMetrics } from './summed-metrics.ts';
import { type Serving, WorkerPlace, type WorkerProcess } from './worker.ts';

/** Of all workers together; a PostgreSQL allows 100 as it comes, and others need some too. */
const CONNECTIONS_MAX = 80;
/** Of one worker, whatever their number. */
const CONNECTIONS = { min: 5, max: 20 };

export interface WorkersSettings extends Omit<WorkerSettings, 'number' | 'config'> {
  readonly count: number;
  readonly config: Omit<ServiceConfig, 'opsPort' | 'connectionsMax'> & { readonly opsPort: number };
}

export class Workers implements Watched {
  readonly log: Logger;
  readonly #settings: WorkersSettings;
  readonly #metrics = new SummedMetrics();
  #places: readonly WorkerPlace[] = [];
  #ops: FastifyInstance | undefined;
  #stopping = false;

  constructor(settings: WorkersSettings, log: Logger) {
    this.#settings = settings;
    this.log = log;
  }

  /** Fails with the `StartError` of the first worker that does not come up; the others are for `stop()`. */
  async start(): Promise<Serving & { readonly opsPort: number }> {
    const { count, config, logLevel, tracing } = this.#settings;
    this.#ops = await openOps(this, config.host, config.opsPort);
    cluster.setupPrimary({
      exec: fileURLToPath(new URL('./main.ts', import.meta.url)),
      // The settings hold bytes.
      serialization: 'advanced',
    });
    // Left to the system, a few workers take most of the connections, and relays keep theirs for long.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    // Whatever ends this process at once ends its workers, too.
    process.once('exit', () => {
      for (const each of this.#processes) each.kill();
    });
    const connectionsMax = connectionsOfEach(count);
    this.#places = Array.from({ length: count }, (_, index) => {
      const own = { ...config, opsPort: undefined, connectionsMax };
      return new WorkerPlace({ number: index + 1, config: own, logLevel, tracing }, this.log);
    });
    const [first] = await Promise.all(this.#processes.map(({ serving }) => serving));
    return { ...first!, opsPort: portOf(this.#ops) };
  }

  /** Let all workers answer what they accepted and end; their port closes with the first step. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#places.map((place) => place.stop()));
    await this.#ops?.close();
  }

  isAlive(): boolean {
    return this.#serving.length > 0;
  }

  async findFault(): Promise<string | undefined> {
    if (this.#stopping) return 'stopping';
    const { count } = this.#settings;
    const serving = this.#serving;
    if (serving.length < count) return `${serving.length} of ${count} workers serve`;
    const faults = await Promise.all(
      serving.map((each) => each.ask('fault').catch(() => 'a worker does not answer')),
    );
    return faults.find((each) => each !== undefined) as string | undefined;
  }

  async readMetrics(): Promise<string> {
    return (await this.#metrics.read(this.#serving)).metrics();
  }

  get #processes(): readonly WorkerProcess[] {
    return this.#places.map(({ current }) => current);
  }

  get #serving(): readonly WorkerProcess[] {
    return this.#processes.filter(({ isServing }) => isServing);
  }
}

/** Beyond 16 workers all of them may take more than a PostgreSQL allows as it comes. */
export function connectionsOfEach(workers: number): number {
  const share = Math.floor(CONNECTIONS_MAX / workers);
  return Math.min(CONNECTIONS.max, Math.max(CONNECTIONS.min, share));
}
