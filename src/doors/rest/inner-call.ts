/**
 * Calls of routes from within the process, for a caller that is verified already: the tools of `/mcp` are routes, with the same checks,
 * queues and messages as over HTTP.
 *
 * The caller travels beside the request, in the context of the call. No header or body can claim to be one.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import type { Http } from '../http/http.ts';

interface InnerCall {
  readonly caller: AuthenticatedCaller;
  /** The pattern of the route that is called. No value in the address leads to another one. */
  readonly url: string;
  /** Check everything that can be checked before the effect, and leave that out. */
  readonly isTrial: boolean;
}

const calls = new AsyncLocalStorage<InnerCall>();

/** `undefined`: the request came from outside. One that came over a connection always did. */
export function innerCallOf({ raw }: FastifyRequest): InnerCall | undefined {
  return raw instanceof IncomingMessage ? undefined : calls.getStore();
}

export interface InnerRequest {
  readonly method: string;
  /** The pattern. */
  readonly url: string;
  /** The address, with its query. */
  readonly target: string;
  readonly body: object | undefined;
}

export interface InnerAnswer {
  readonly isOk: boolean;
  /** JSON, or empty. */
  readonly text: string;
}

export async function callInside(
  app: Http,
  call: Omit<InnerCall, 'url'>,
  { method, url, target, body }: InnerRequest,
): Promise<InnerAnswer> {
  // It begins once it is waited for, so it is waited for in the context.
  const answer = await calls.run({ ...call, url }, async () => {
    return await app.inject({
      method: method as 'GET',
      url: target,
      headers: { accept: 'application/json' },
      ...(body && { payload: body }),
    });
  });
  return { isOk: answer.statusCode < 300, text: answer.payload };
}
