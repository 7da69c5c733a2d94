/** Bodies that arrive after the head of their request. */
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';

/** What the head says. */
export function hasBody({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { 'content-length': length } = headers;
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Whether all of the request has arrived. If not when its caller was looked up, the rest may arrive minutes later, and the caller may
 * have been revoked by then.
 */
export function isWhole(request: FastifyRequest): boolean {
  return request.raw.complete || !hasBody(request);
}

/** The same in the next turn of the event loop: the parser has read what had arrived, and most clients have sent the rest. */
export async function isSoonWhole(request: FastifyRequest): Promise<boolean> {
  if (hasBody(request)) await turn();
  return isWhole(request);
}
