/**
 * What all HTTP doors have in common: limits of time and size, ids, strict bodies, logs and metrics.
 *
 * A door adds its routes and the format of its failures.
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
import { Failure, invalidRequest } from '../../base/failure.ts';
import { newId } from '../../base/lib/ids.ts';
import { countLimitRefusal } from '../../base/tenants/limits.ts';
import { isMailAddress } from '../../base/tenants/mail-address.ts';
import type { Deps } from '../deps.ts';
import { fillOptionalBody, holdBodies, parseBodies } from './bodies.ts';
import { drainOnClose } from './drain.ts';
import { LAZY_SCHEMAS } from './lazy-schemas.ts';
import { HEAD_BYTES_MAX, PARAM_LENGTH_MAX } from './limits.ts';
import { RequestLog } from './request-log.ts';
import { requireTls } from './strict-transport.ts';
import { LateHeads, limitTime, TIME_LIMITS } from './time-limits.ts';

export type Http = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** `Cache-Control` of a success. All other answers are `no-store`. */
    cacheControl?: string;
  }
  interface FastifyRequest {
    /** The id of the key or credential in the request, for the log. */
    keyId: string | undefined;
  }
}

/** How failures leave by a door. */
export interface Door {
  readonly trustProxy: readonly string[];
  readonly bodyBytesMax: number;
  /** What the router takes a request's address for; absent: as it is. */
  rewriteUrl?(request: { readonly url?: string | undefined }): string;
  sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply;
  /** The whole answer to a malformed or late HTTP request; `code` is Node's. */
  renderClientError(code: string | undefined, requestId: string): string;
}

/** `times` are for tests, which cannot wait for so long. */
export function openHttp(deps: Deps, door: Door, times = TIME_LIMITS): Http {
  const lateHeads = new LateHeads();
  const app = Fastify({
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (log, bindings, options) =>
      Object.keys(options).length > 0 ? log.child(bindings, options) : new RequestLog(log, bindings),
    bodyLimit: door.bodyBytesMax,
    // Ours is in time-limits.ts.
    requestTimeout: 0,
    keepAliveTimeout: 65_000,
    http: {
      headersTimeout: times.stepMs,
      connectionsCheckingInterval: Math.min(1_000, times.stepMs),
      maxHeaderSize: HEAD_BYTES_MAX,
      // Node would answer with an empty body; requireHost() answers with a message.
      requireHostHeader: false,
    },
    trustProxy: door.trustProxy.length > 0 ? [...door.trustProxy] : false,
    genReqId: () => newId('req'),
    ...(door.rewriteUrl && { rewriteUrl: door.rewriteUrl }),
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    // Fastify's defaults delete unknown fields and turn "5" into 5. Both are client mistakes to report.
    // Our schemas are checked by the linter of the OpenAPI description, so not at each start too.
    schemaController: LAZY_SCHEMAS,
    ajv: {
      customOptions: { removeAdditional: false, coerceTypes: false, allErrors: false, validateSchema: false },
      // Instead of the usual pattern, which takes routes for addresses.
      onCreate: (ajv) => ajv.addFormat('email', isMailAddress),
    },
    frameworkErrors: (error, request, reply) => {
      stampHeaders(request, reply);
      door.sendError(error, request as FastifyRequest, reply);
    },
    clientErrorHandler: ({ code }, socket) => {
      const refuse = () => {
        if (code !== 'ECONNRESET' && socket.writable)
          socket.write(door.renderClientError(code, newId('req')));
        socket.destroy();
      };
      if (code === 'ERR_HTTP_REQUEST_TIMEOUT') lateHeads.judge(socket, refuse);
      else refuse();
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  app.decorateRequest('keyId', undefined);
  app.setErrorHandler((error, request, reply) => door.sendError(error, request, reply));
  requireTls(app, { url: deps.config.publicUrl, seconds: deps.config.strictTransportSeconds });
  refuseUnknownPaths(app);
  requireHost(app);
  ignoreExpectations(app);
  drainOnClose(app);
  holdBodies(app);
  parseBodies(app);
  fillOptionalBody(app);
  limitTime(app, times);
  lateHeads.watch(app);
  app.server.prependListener('connection', (socket) => {
    // Clients could keep connections without requests for ever. These make room, so a client that tries again gets in.
    if (!deps.connections.admit(socket) && deps.connections.isFull) app.server.closeIdleConnections();
  });
  observe(app, deps);
  return app;
}

/** The single `Authorization` header of a request. Fails with `invalid_api_key` if there are two. */
export function authorizationOf(request: FastifyRequest): string | undefined {
  if (countHeader(request.raw.rawHeaders, 'authorization') > 1) throw new Failure('invalid_api_key');
  return request.headers.authorization;
}

/** Node keeps the first of two Authorization headers. A proxy may have checked the other one. */
export function countHeader(rawHeaders: readonly string[], lowerName: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length === lowerName.length && name.toLowerCase() === lowerName) count += 1;
  }
  return count;
}

/** A missing route is reported before any mistake in the request's body. */
function refuseUnknownPaths(app: Http): void {
  app.addHook('onRequest', (request, _reply, done) => {
    done(request.is404 ? new Failure('not_found') : undefined);
  });
}

/** HTTP/1.1 requires 400 for a request without a Host. */
function requireHost(app: Http): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const isMissing = request.raw.httpVersion === '1.1' && request.headers.host === undefined;
    done(isMissing ? invalidRequest('the Host header is required') : undefined);
  });
}

/** Node would refuse an unknown expectation with an empty answer. HTTP allows a server to ignore it. */
function ignoreExpectations(app: Http): void {
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
}

function stampHeaders(request: { id: string }, reply: Pick<FastifyReply, 'header' | 'hasHeader'>): void {
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  reply.header('x-request-id', request.id);
}

/** All methods that can reach a route. Node creates no request for CONNECT. */
const METHODS = http.METHODS.filter((method) => method !== 'CONNECT');

/** Collects the methods of each path. Call the result when all routes are registered. */
export function collectMethods(app: Http): () => void {
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

/** An existing path with a method that it does not have: 405, with the allowed methods. */
function refuseOtherMethods(app: Http, url: string, methods: ReadonlySet<string>): void {
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

/** Headers, one log line and the metrics of every request. Routes are logged as patterns, never as URLs. */
function observe(app: Http, deps: Deps): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    stampHeaders(request, reply);
    const { cacheControl } = request.routeOptions.config;
    if (cacheControl && reply.statusCode === 200) reply.header('cache-control', cacheControl);
    done(null, payload);
  });
  app.addHook('onError', (_request, _reply, error, done) => {
    countLimitRefusal(deps.metrics, error);
    done();
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
        key: request.keyId,
      },
      'request',
    );
    done();
  });
}
