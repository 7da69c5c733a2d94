/**
 * The join door: on the address of the REST interface, or on one of its own.
 *
 * Source: specification 4.11 and 7.2. Devices call it directly, from web pages too.
 */
import type { Deps } from '../deps.ts';
import { collectMethods, type Http, openHttp } from '../http/http.ts';
import { jwksRoute } from '../http/jwks.ts';
import { revocationsRoute } from '../http/revocations.ts';
import { firstFault } from './auth.ts';
import { allowOrigins } from './cors.ts';
import { renderClientError, sendError } from './errors.ts';
import { joinRoute } from './join.ts';
import { BODY_BYTES_MAX } from './limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The outcome of a join, for the metrics: `joined`, or why not. */
    outcome: string;
  }
}

export interface JoinDoor {
  readonly deps: Deps;
  /** Origins of the web pages that may call; `*` allows all. */
  readonly origins: readonly string[];
}

/** A door with an address of its own. */
export async function buildJoin(door: JoinDoor & { readonly trustProxy: readonly string[] }): Promise<Http> {
  const app = openHttp(door.deps, {
    trustProxy: door.trustProxy,
    bodyBytesMax: BODY_BYTES_MAX,
    sendError,
    renderClientError,
  });
  const refuseMethods = collectMethods(app);
  jwksRoute(app, door.deps);
  revocationsRoute(app, door.deps);
  refuseMethods();
  await app.register(joinDoor, door);
  return app;
}

/** The route, in its own context: its errors are plain text wherever it is registered. */
export async function joinDoor(app: Http, { deps, origins }: JoinDoor): Promise<void> {
  app.decorateRequest('isWhole', false);
  app.decorateRequest('outcome', 'joined');
  app.setErrorHandler(async (error, request, reply) =>
    sendError(await firstFault(deps, request, error), request, reply),
  );
  app.addHook('onResponse', async (request) => {
    if (request.method === 'POST') deps.metrics.joins.inc({ outcome: request.outcome });
  });
  const refuseMethods = collectMethods(app);
  allowOrigins(app, origins);
  joinRoute(app, deps);
  refuseMethods();
}
