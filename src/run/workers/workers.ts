/**
 * Several processes that serve as one. They share a listening socket for each port; the primary
 * accepts connections and distributes them round-robin.
 */
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Issuer } from '../../access/oidc/issuer.ts';
import { openPool, type Pool } from '../../base/db/pool.ts';
import { SecretBox } from '../../base/lib/secret-box.ts';
import { makeMetrics } from '../../doors/metrics.ts';
import type { OperatorDeps } from '../../doors/ops/console/operator-deps.ts';
import type { Watched } from '../../doors/ops/server.ts';
import { openProvider } from '../../money/payments/provider.ts';
import { askDistribution } from '../ask-distribution.ts';
import { OPERATOR_CONNECTIONS_MAX } from '../connection-budget.ts';
import { openOps, portOf, type ServiceConfig } from '../service.ts';
import type { WorkerSettings } from './messages.ts';
import { SummedMetrics } from './summed-metrics.ts';
import { type Serving, WorkerPlace, type WorkerProcess } from './worker.ts';

export interface WorkersSettings extends Omit<WorkerSettings, 'number' | 'config'> {
  readonly count: number;
  readonly config: Omit<ServiceConfig, 'opsPort'> & { readonly opsPort: number };
}

export class Workers implements Watched {
  readonly log: Logger;
  readonly #settings: WorkersSettings;
  readonly #metrics = new SummedMetrics();
  #places: readonly WorkerPlace[] = [];
  #ops: FastifyInstance | undefined;
  #stopping = false;
  /** For the console of operators; opened by the first request for one of its pages. */
  #db: Pool | undefined;

  constructor(settings: WorkersSettings, log: Logger) {
    this.#settings = settings;
    this.log = log;
  }

  /** Fails with the `StartError` of the first worker that does not start; `stop()` ends the others. */
  async start(): Promise<Serving & { readonly opsPort: number }> {
    const { count, config, logLevel, tracing } = this.#settings;
    this.#ops = await openOps(this, config, () => this.#openConsole());
    cluster.setupPrimary({
      exec: fileURLToPath(new URL('./main.ts', import.meta.url)),
      // The settings contain byte arrays.
      serialization: 'advanced',
    });
    // The operating system would give most connections to a few workers, and relays keep theirs for long.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    // If this process exits at once, its workers must end too.
    process.once('exit', () => {
      for (const each of this.#processes) each.kill();
    });
    this.#places = Array.from({ length: count }, (_, index) => {
      const own = { ...config, opsPort: undefined };
      return new WorkerPlace({ number: index + 1, config: own, logLevel, tracing }, this.log);
    });
    const [first] = await Promise.all(this.#processes.map(({ serving }) => serving));
    return { ...first!, opsPort: portOf(this.#ops) };
  }

  /** Let all workers answer accepted requests and end. The port closes first. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#places.map((place) => place.stop()));
    await this.#ops?.close();
    await this.#db?.end();
  }

  /** This process serves no tenants, and so has no connections of its own until an operator looks. */
  async #openConsole(): Promise<OperatorDeps> {
    const { config } = this.#settings;
    const { stripeSecretKey: secretKey, stripeApiBase: apiBase } = config;
    const provider = secretKey
      ? await openProvider({ secretKey, webhookSecrets: config.stripeWebhookSecrets, apiBase })
      : undefined;
    const url = config.databaseDirectUrl ?? config.databaseUrl;
    await askDistribution(url);
    this.#db ??= openPool(url, { max: OPERATOR_CONNECTIONS_MAX });
    return {
      db: this.#db,
      log: this.log,
      metrics: makeMetrics(),
      box: new SecretBox(config.secretsKey, config.secretsKeyFallback),
      provider,
      issuer: config.oidc && new Issuer(config.oidc),
      config,
    };
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
