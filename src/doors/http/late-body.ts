/** Bodies that arrive after the head of their request. */
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';

/** What the head says. */
export function hasBody({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { 'content-length': length } = headers;
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/**
 * Whether all of the request has arrived. Asked before its caller is looked up: what arrives later may arrive minutes later, and
 * the caller may have been revoked by then.
 */
export async function hasArrived(request: FastifyRequest): Promise<boolean> {
  if (!hasBody(request)) return true;
  // By the next turn of the event loop, the parser has read what had arrived, and most clients have sent the rest.
  await turn();
  return request.raw.complete;
}
