/**
 * The REST door: what all its routes have in common. Source: specification 4 and 7.1.
 */
import http from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify';
import type { Deps } from '../../deps.ts';
import { Failure, invalidRequest } from '../../failure.ts';
import { drainOnClose } from '../../lib/drain.ts';
import { newId } from '../../lib/ids.ts';
import { billingRoutes } from './billing.ts';
import { renderClientError, sendError } from './errors.ts';
import { keyRoutes } from './keys.ts';
import { ratesRoute } from './rates.ts';
import { reference } from './reference.ts';
import { returnPages } from './return-pages.ts';
import { signupRoute } from './signup.ts';
import { parseStrictJson } from './strict-json.ts';
import { usageRoute } from './usage.ts';
import { webhookRoute } from './webhook.ts';

export type Rest = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes no body; an empty one, or `{}`, is let pass. */
    emptyBody?: boolean;
    /** The body may be left out, even where a Content-Type announces one. */
    optionalBody?: boolean;
  }
}

const BODY_BYTES_MAX = 1024 * 1024;
const HEAD_BYTES_MAX = 16 * 1024;
/** How long a client may take to send a request, and how long it waits for an answer. */
const REQUEST_TIMEOUT_MS = 15_000;

export async function buildRest(deps: Deps, options: { trustProxy: readonly string[] }): Promise<Rest> {
  const app = Fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    handlerTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: 65_000,
    http: {
      headersTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: HEAD_BYTES_MAX,
      // Node would refuse with an empty answer; requireHost() has the words.
      requireHostHeader: false,
    },
    trustProxy: options.trustProxy.length > 0 ? [...options.trustProxy] : false,
    genReqId: () => newId('req'),
    routerOptions: { maxParamLength: 500 },
    // Fastify's own settings delete unknown fields and turn "5" into 5. Both are mistakes to report.
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, allErrors: false } },
    frameworkErrors: (error, request, reply) => {
      stampHeaders(request, reply);
      sendError(error, request as FastifyRequest, reply);
    },
    clientErrorHandler: (error, socket) => {
      if (error.code !== 'ECONNRESET' && socket.writable)
        socket.write(renderClientError(error.code, newId('req')));
      socket.destroy();
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.decorateRequest('caller', undefined);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply));
  refuseUnknownPaths(app);
  requireHost(app);
  ignoreExpectations(app);
  drainOnClose(app);
  parseBodies(app);
  fillOptionalBody(app);
  const refuseMethods = collectMethods(app);
  observe(app, deps);

  reference(app, deps.config.publicUrl);
  ratesRoute(app, deps);
  signupRoute(app, deps);
  billingRoutes(app, deps);
  keyRoutes(app, deps);
  await app.register((scope: Rest) => usageRoute(scope, { deps }));
  returnPages(app, deps);
  await app.register(webhookRoute, { deps });
  refuseMethods();
  return app;
}

/** Before anything is said about the body of a request for what is not there. */
function refuseUnknownPaths(app: Rest): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.is404 ? new Failure('not_found') : undefined);
  });
}

/** HTTP/1.1 has it that a request without a Host is answered with 400. */
function requireHost(app: Rest): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isMissing = request.raw.httpVersion === '1.1' && request.headers.host === undefined;
    done(isMissing ? invalidRequest('the Host header is required') : undefined);
  });
}

/** Node would refuse what it cannot meet in a shape that is not ours; HTTP lets a server pass over it. */
function ignoreExpectations(app: Rest): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
}

function stampHeaders(request: { id: string }, reply: Pick<FastifyReply, 'header'>): void {
  reply.header('cache-control', 'no-store');
  reply.header('x-request-id', request.id);
}

/** JSON and nothing else, not compressed, and strictly read. */
function parseBodies(app: Rest): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const encoding = request.headers['content-encoding'];
    const isPlain = encoding === undefined || encoding === 'identity';
    done(isPlain ? null : invalidRequest('the body may not be compressed'), payload);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, bytes: Buffer) => {
      requireUtf8(request);
      const { emptyBody, optionalBody } = request.routeOptions.config;
      if (bytes.length === 0 && (emptyBody || optionalBody)) return undefined;

      const value = parseStrictJson(bytes);
      if (emptyBody && !isEmptyObject(value)) throw invalidRequest('this route takes no body');
      return value;
    },
  );
}

/** What a Content-Type says of the characters of a body. */
export function requireUtf8(request: FastifyRequest): void {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(request.headers['content-type'] ?? '')?.[1];
  if (charset && charset.toLowerCase() !== 'utf-8') throw invalidRequest('charset must be utf-8');
}

/** A body that may be left out is an empty one when it is. */
function fillOptionalBody(app: Rest): void {
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.routeOptions.config.optionalBody && request.body === undefined) request.body = {};
    done();
  });
}

function isEmptyObject(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0
  );
}

/** All that a request line can name; of CONNECT, Node never makes a request. */
const METHODS = http.METHODS.filter((method) => method !== 'CONNECT');

/** Notes which methods each path has; call the result when all routes are there. */
function collectMethods(app: Rest): () => void {
  const methodsOf = new Map<string, Set<string>>();
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.addHook('onRoute', (route) => {
    const methods = methodsOf.get(route.url) ?? new Set();
    for (const method of [route.method].flat()) methods.add(method);
    methodsOf.set(route.url, methods);
  });
  return () => {
    for (const [url, methods] of [...methodsOf]) {
      if (url.startsWith('/docs')) continue;
      refuseOtherMethods(app, url, methods);
    }
  };
}

/** A path that exists, asked with a method that it does not have: 405, naming those that it has. */
function refuseOtherMethods(app: Rest, url: string, methods: ReadonlySet<string>): void {
  const allow = [...methods].sort().join(', ');
  app.route({
    method: METHODS.filter((method) => !methods.has(method)),
    url,
    schema: { hide: true },
    onRequest: async (_request, reply) => {
      reply.header('allow', allow);
      throw new Failure('method_not_allowed');
    },
    handler: async () => {},
  });
}

/** Headers, one log line and the metrics of every request. Routes are named by their pattern, never by a URL. */
function observe(app: Rest, deps: Deps): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    stampHeaders(request, reply);
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const labels = { method: request.method, route };
    deps.metrics.requests.inc({ ...labels, status: reply.statusCode });
    deps.metrics.requestDuration.observe(labels, reply.elapsedTime / 1000);
    request.log.info(
      {
        ...labels,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        key: request.caller?.keyId,
      },
      'request',
    );
    done();
  });
}
