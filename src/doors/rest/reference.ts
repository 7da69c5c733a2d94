/**
 * The description at `/openapi.json` and the interactive reference page at `/docs`. The page loads nothing
 * from other hosts.
 *
 * A separate application serves them and is created by the first request for either: a service that
 * never gets one saves 5 MB, and the load time at every start.
 */
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteOptions,
} from 'fastify';
import { Failure } from '../../base/failure.ts';
import type { Http } from '../http/http.ts';
import { openApi } from './openapi.ts';

/** The page has inline styles; all scripts are ours. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** What the reference says of a route. */
export type DescribedRoute = Pick<RouteOptions, 'method' | 'url' | 'schema' | 'config'>;

/** Describes the routes that are registered with `app` after this call, and those of `others`. */
export function reference(app: Http, publicUrl: string, others: readonly DescribedRoute[]): void {
  const routes: DescribedRoute[] = [];
  let opening: Promise<FastifyInstance> | undefined;

  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    opening ??= openReference([...routes, ...others], publicUrl);
    const { url, headers } = request;
    const answer = await (await opening).inject({ method: 'GET', url, headers });
    if (answer.statusCode === 404) throw new Failure('not_found');
    // Hop-by-hop headers belong to the client's connection.
    const { connection, ...described } = answer.headers;
    return reply.code(answer.statusCode).headers(described).send(answer.rawPayload);
  };
  for (const url of ['/openapi.json', '/docs', '/docs/*']) app.get(url, { schema: { hide: true } }, serve);
  app.addHook('onRoute', (route) => void routes.push(route));
}

/** An application that describes `routes` and serves none of them. */
async function openReference(routes: readonly DescribedRoute[], publicUrl: string): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }, page] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
    import('./reference-page.ts'),
  ]);
  const app = Fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(swagger, openApi(publicUrl));
  for (const { method, url, schema, config = {} } of routes) {
    if (schema && !('hide' in schema)) app.route({ method, url, schema, config, handler: async () => {} });
  }
  // Ours is in place of the viewer's own page; the viewer serves its files.
  app.addHook('onSend', async (request, reply, payload) => {
    if (!/^\/docs\/?(?:$|\?)/.test(request.url) || reply.statusCode !== 200) return payload;
    reply.removeHeader('content-length');
    return page.renderReference();
  });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CSP,
    theme: {
      css: [{ filename: page.REFERENCE_STYLE.filename, content: page.REFERENCE_STYLE_TEXT }],
      js: [{ filename: page.REFERENCE_SCRIPT.filename, content: page.REFERENCE_SCRIPT_TEXT }],
    },
    uiConfig: {
      persistAuthorization: false,
      docExpansion: 'list',
      deepLinking: true,
      defaultModelsExpandDepth: -1,
    },
  });
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  await app.ready();
  return app;
}
