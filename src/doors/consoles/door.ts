/** The routes of a console. What answers them is loaded by the first request. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseForm } from '../http/form.ts';
import { limitAnswer } from '../http/time-limits.ts';

/** Forms are small: the longest field has 4,000 characters. */
const FORM_BYTES_MAX = 64 * 1024;

export interface Pages {
  answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** For Fastify: an address of the console that cannot be decoded is found missing by a page too. */
export function rewriteConsoleUrl({ url = '' }: { readonly url?: string | undefined }): string {
  if (!url.startsWith('/console') || !url.includes('%')) return url;
  try {
    decodeURI(url.split('?')[0]!);
    return url;
  } catch {
    return url.replaceAll('%', '%25');
  }
}

/** `app` is a context of its own: its errors are pages. `load` is called once. */
export function servePages(app: FastifyInstance, load: () => Promise<Pages>): void {
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    async (request: FastifyRequest, text: string) => {
      limitAnswer(request);
      return parseForm(text);
    },
  );
  let loading: Promise<Pages> | undefined;
  const pages = () => {
    loading ??= load();
    return loading;
  };
  const answer = async (request: FastifyRequest, reply: FastifyReply) =>
    (await pages()).answer(request, reply);
  app.setErrorHandler(async (error, request, reply) => (await pages()).answerError(error, request, reply));

  const schema = { hide: true };
  // A request for `*` reaches the route as well. It is about the server, and no page.
  app.get('/', { schema }, (request, reply) =>
    request.url.startsWith('/') ? answer(request, reply) : reply.code(404).send({ error: 'not found' }),
  );
  for (const url of ['/console', '/console/*']) {
    app.route({ method: ['GET', 'POST'], url, schema, bodyLimit: FORM_BYTES_MAX, handler: answer });
  }
}
