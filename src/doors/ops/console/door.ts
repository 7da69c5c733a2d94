/**
 * The console of operators, on the port that is never public. See docs/console.md.
 *
 * Only this file is loaded at the start. The pages, and what they need, are opened by the first request for one.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseForm } from '../../http/form.ts';
import type { OperatorDeps, OperatorDoor } from './operator-deps.ts';

const FORM_BYTES_MAX = 64 * 1024;

export interface OperatorConsole {
  /** Called once, by the first request. */
  openDeps(): Promise<OperatorDeps>;
  findFault(): Promise<string | undefined>;
}

/** The routes, in a context of their own: their errors are pages. */
export async function operatorDoor(
  app: FastifyInstance,
  { openDeps, findFault }: OperatorConsole,
): Promise<void> {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    async (_request: FastifyRequest, text: string) => parseForm(text),
  );
  const stop = new AbortController();
  const kept = new Set<Promise<void>>();
  app.addHook('onClose', async () => {
    stop.abort();
    await Promise.all(kept);
  });
  const keep = (work: Promise<void>) => {
    kept.add(work);
    void work.finally(() => kept.delete(work));
  };

  let loading: Promise<typeof import('./answer-operator.ts')> | undefined;
  const load = () => {
    loading ??= import('./answer-operator.ts');
    return loading;
  };
  let opening: Promise<OperatorDoor> | undefined;
  const open = () => {
    opening ??= openDeps().then(
      (deps) => ({ deps, findFault, stopping: stop.signal, keep }),
      (error) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  };
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const [{ answerOperator }, door] = await Promise.all([load(), open()]);
    return answerOperator(door, request, reply);
  };
  app.setErrorHandler(async (error, request, reply) =>
    (await load()).answerOperatorError(error, request, reply),
  );
  app.get('/', answer);
  app.route({ method: ['GET', 'POST'], url: '/console', bodyLimit: FORM_BYTES_MAX, handler: answer });
  app.route({ method: ['GET', 'POST'], url: '/console/*', bodyLimit: FORM_BYTES_MAX, handler: answer });
}
