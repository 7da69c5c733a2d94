/** The operator's door: health, metrics and the console of operators, on a separate port that is never public. */
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { rewriteConsoleUrl } from '../consoles/door.ts';
import type { Deps } from '../deps.ts';
import { drainOnClose } from '../http/drain.ts';
import { requireTls } from '../http/strict-transport.ts';
import { operatorDoor } from './console/door.ts';
import type { OperatorDeps } from './console/operator-deps.ts';
import { refuseOtherHosts } from './own-host.ts';

/** What the door reports on: this process, or several together. */
export interface Watched {
  readonly log: Logger;
  /** Whether any process serves. */
  isAlive(): boolean;
  /** Why requests should not be sent; `undefined`: ready. */
  findFault(): Promise<string | undefined>;
  /** In the text format of Prometheus. */
  readMetrics(): Promise<string>;
}

/** Where operators reach the door. */
export interface OpsAddress {
  /** Without a trailing slash. */
  readonly opsUrl: string;
  /** Further names and addresses that requests may have as their `Host`, without ports. */
  readonly opsHosts: readonly string[];
  readonly strictTransportSeconds: number;
}

/** `openConsole`: what operators' pages need, opened by the first request for one; `undefined`: there are none. */
export function buildOps(
  watched: Watched,
  { opsUrl, opsHosts, strictTransportSeconds }: OpsAddress,
  openConsole?: () => Promise<OperatorDeps>,
): FastifyInstance {
  const app = Fastify({
    loggerInstance: watched.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    rewriteUrl: rewriteConsoleUrl,
  });
  drainOnClose(app);
  const ownName = new URL(opsUrl).hostname.replace(/^\[(.*)\]$/, '$1');
  refuseOtherHosts(app, new Set([ownName, ...opsHosts]));
  requireTls(app, { url: opsUrl, seconds: strictTransportSeconds });

  // Liveness only. Readiness is separate.
  app.get('/healthz', async (_request, reply) =>
    watched.isAlive() ? { status: 'ok' } : reply.code(503).send({ status: 'no process serves' }),
  );

  app.get('/readyz', async (_request, reply) => {
    const reason = await watched.findFault();
    return reply
      .code(reason ? 503 : 200)
      .send(reason ? { status: 'not ready', reason } : { status: 'ready' });
  });

  app.get('/metrics', async (_request, reply) =>
    reply.type(Registry.PROMETHEUS_CONTENT_TYPE).send(await watched.readMetrics()),
  );
  if (openConsole) {
    void app.register(operatorDoor, {
      openDeps: openConsole,
      findFault: () => watched.findFault(),
      readMetrics: () => watched.readMetrics(),
    });
  }
  return app;
}

/** The service of this process. */
export function watchProcess(deps: Deps, state: { readonly stopping: boolean }): Watched {
  return {
    log: deps.log,
    isAlive: () => true,
    findFault: async () => (state.stopping ? 'stopping' : findFault(deps)),
    readMetrics: () => deps.metrics.registry.metrics(),
  };
}

export async function findFault(deps: Pick<Deps, 'db' | 'metrics'>): Promise<string | undefined> {
  try {
    await deps.db.query({
      name: 'find-fault',
      text: 'select 1',
    });
  } catch {
    return 'the database does not answer';
  }
  const drift = (await deps.metrics.ledgerDrift.get()).values[0]?.value ?? 0;
  return drift === 0 ? undefined : 'balances differ from their ledgers';
}
