/**
 * The console: pages for people, on the address of the REST interface. See docs/console.md.
 *
 * Only this file is loaded at the start. The pages are loaded by the first request for one.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../deps.ts';
import { parseForm } from '../http/form.ts';
import { collectMethods, type Http } from '../http/http.ts';
import { limitAnswer } from '../http/time-limits.ts';

/** Forms are small: the longest field has 4,000 characters. */
const FORM_BYTES_MAX = 64 * 1024;

export interface ConsoleDoor {
  readonly deps: Deps;
}

/** The routes, in a context of their own: their errors are pages. */
export async function consoleDoor(app: Http, { deps }: ConsoleDoor): Promise<void> {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    async (request: FastifyRequest, text: string) => {
      limitAnswer(request);
      return parseForm(text);
    },
  );
  let loading: Promise<typeof import('./answer-call.ts')> | undefined;
  const load = () => {
    loading ??= import('./answer-call.ts');
    return loading;
  };
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort());
  const answer = async (request: FastifyRequest, reply: FastifyReply) =>
    (await load()).answerCall({ deps, closing: closing.signal }, request, reply);
  app.setErrorHandler(async (error, request, reply) => (await load()).answerError(error, request, reply));

  const refuseMethods = collectMethods(app);
  const schema = { hide: true };
  // A request for `*` reaches the route as well. It is about the server, and no page.
  app.get('/', { schema }, (request, reply) =>
    request.url.startsWith('/') ? answer(request, reply) : reply.code(404).send({ error: 'not found' }),
  );
  app.route({ method: ['GET', 'POST'], url: '/console', schema, bodyLimit: FORM_BYTES_MAX, handler: answer });
  app.route({
    method: ['GET', 'POST'],
    url: '/console/*',
    schema,
    bodyLimit: FORM_BYTES_MAX,
    handler: answer,
  });
  refuseMethods();
}
