/** The operator's door: health and metrics, on a port of its own that is never public. */
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Deps } from '../deps.ts';
import { drainOnClose } from '../lib/drain.ts';

export function buildOps(deps: Deps, state: { readonly stopping: boolean }): FastifyInstance {
  const app = Fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
  });
  drainOnClose(app);

  // The process answers. Whether it can do its work is another question.
  app.get('/healthz', async () => ({ status: 'ok' }));

  app.get('/readyz', async (_request, reply) => {
    const reason = state.stopping ? 'stopping' : await findFault(deps);
    return reply
      .code(reason ? 503 : 200)
      .send(reason ? { status: 'not ready', reason } : { status: 'ready' });
  });

  app.get('/metrics', async (_request, reply) =>
    reply.type(deps.metrics.registry.contentType).send(await deps.metrics.registry.metrics()),
  );
  return app;
}

async function findFault(deps: Deps): Promise<string | undefined> {
  try {
    await deps.db.query('select 1');
  } catch {
    return 'the database does not answer';
  }
  const drift = (await deps.metrics.ledgerDrift.get()).values[0]?.value ?? 0;
  return drift === 0 ? undefined : 'balances differ from their ledgers';
}
