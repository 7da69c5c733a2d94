/** Cross-origin requests (CORS, as in the Fetch standard): which web pages may join. */
import type { Http } from '../http/http.ts';

/** How long a browser may cache a preflight. Browsers cap it themselves. */
const MAX_AGE_SECONDS = 7200;

/** Without origins no page is allowed, and no CORS header is sent. */
export function allowOrigins(app: Http, origins: readonly string[]): void {
  if (origins.length === 0) return;
  const everyone = origins.includes('*');

  app.addHook('onSend', async (request, reply) => {
    const { origin } = request.headers;
    if (!everyone) reply.header('vary', 'Origin');
    if (origin === undefined || !(everyone || origins.includes(origin))) return;
    reply.header('access-control-allow-origin', everyone ? '*' : origin);
    reply.header('access-control-expose-headers', 'Retry-After, X-Request-Id');
  });

  app.options('/join', { schema: { hide: true } }, async (_request, reply) =>
    reply
      .code(204)
      .headers({
        allow: 'OPTIONS, POST',
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'Authorization, Content-Type',
        'access-control-max-age': MAX_AGE_SECONDS,
      })
      .send(),
  );
}
