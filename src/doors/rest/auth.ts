/**
 * Authentication of the REST routes: which kind of key a route takes, and for which statuses of the tenant.
 */
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify';
import type { KeyKind } from '../../access/keys/api-key.ts';
import { type AuthenticatedCaller, authenticate } from '../../access/keys/authenticate.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantStatus } from '../../base/tenants/tenant.ts';
import type { Deps } from '../deps.ts';
import { authorizationOf, type Http } from '../http/http.ts';
import { queueOfRoute, type RouteLoad } from '../queue-of-route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: AuthenticatedCaller | undefined;
  }
  interface FastifyContextConfig extends RouteLoad {}
}

/** Runs before the body is read: an unknown caller gets 401 and no other information. */
export function requireKey(deps: Deps, kind: KeyKind): onRequestAsyncHookHandler {
  return async (request) => {
    request.caller = await authenticate(deps, authorizationOf(request), kind, request.ip);
    request.keyId = request.caller.keyId;
    deps.keyRate.count(request.caller);
  };
}

/** Calls of a tenant take a place before their handler runs; a body that is still arriving holds none. */
export function queueCalls(app: Http, deps: Deps): void {
  app.addHook('onRoute', (route) => {
    const { handler, config } = route;
    const queue = queueOfRoute(deps, config);
    route.handler = function (request, reply) {
      const handle = async () => handler.call(this, request, reply);
      return request.caller ? queue.run(request.caller, handle) : handle();
    };
  });
}

/** The caller, on a route that requires a key. */
export function callerOf(request: FastifyRequest): AuthenticatedCaller {
  if (!request.caller) throw new Failure('invalid_api_key');
  return request.caller;
}

/** Source: specification 3.1 and 7.1: `tenant is not active`. */
export function refuseStatus(caller: AuthenticatedCaller, ...refused: readonly TenantStatus[]): void {
  if (refused.includes(caller.tenantStatus)) throw new Failure('tenant_not_active');
}
