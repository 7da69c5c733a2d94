/** The console of operators, on the port that is never public. See docs/console-operators.md. */
import type { FastifyInstance } from 'fastify';
import { RequestLimit } from '../../../access/sessions/request-limit.ts';
import { servePages } from '../../consoles/door.ts';
import type { OperatorDeps, OperatorDoor } from './operator-deps.ts';

export interface OperatorConsole {
  /** Called by the first request, and again only if it failed. */
  openDeps(): Promise<OperatorDeps>;
  findFault(): Promise<string | undefined>;
  readMetrics(): Promise<string>;
}

export async function operatorDoor(
  app: FastifyInstance,
  { openDeps, findFault, readMetrics }: OperatorConsole,
): Promise<void> {
  const stop = new AbortController();
  const kept = new Set<Promise<void>>();
  app.addHook('onClose', async () => {
    stop.abort();
    await Promise.all(kept);
  });
  app.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'no-store'));
  const keep = (work: Promise<void>) => {
    kept.add(work);
    void work.finally(() => kept.delete(work));
  };

  let opening: Promise<OperatorDoor> | undefined;
  const open = () => {
    opening ??= openDeps().then(
      (deps) => ({
        deps,
        requests: new RequestLimit(deps.db),
        findFault,
        readMetrics,
        stopping: stop.signal,
        keep,
      }),
      (error) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  };
  servePages(app, async () => (await import('./answer-operator.ts')).openPages(open));
}
