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

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="140" height="28" viewBox="0 0 140 28" role="img" aria-label="Boxoffice">
<text x="0" y="21" font-family="system-ui, sans-serif" font-size="22" font-weight="700" fill="#fff">Boxoffice</text></svg>`;

/** No answer has links, and their empty column would not fit on a phone. */
const CSS = '.swagger-ui .response-col_links { display: none; }';

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
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ]);
  const app = Fastify({ exposeHeadRoutes: false });
  app.setValidatorCompiler(() => () => true);
  app.setSerializerCompiler(() => JSON.stringify);
  await app.register(swagger, openApi(publicUrl));
  for (const { method, url, schema, config = {} } of routes) {
    if (schema && !('hide' in schema)) app.route({ method, url, schema, config, handler: async () => {} });
  }
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CSP,
    logo: { type: 'image/svg+xml', content: Buffer.from(LOGO), href: '/docs', target: '_self' },
    theme: { title: 'Boxoffice API', css: [{ filename: 'boxoffice.css', content: CSS }] },
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
