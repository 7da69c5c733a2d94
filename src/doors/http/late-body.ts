/** Bodies that arrive after the head of their request. */
import { setImmediate as turn } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';

/**
 * Whether all of the request has arrived. Asked before its caller is looked up: what arrives later may arrive minutes later, and
 * the caller may have been revoked by then.
 */
export async function hasArrived({ raw }: FastifyRequest): Promise<boolean> {
  // By the next turn of the event loop, the parser has read what had arrived, and most clients have sent the rest.
  if (!raw.complete) await turn();
  return raw.complete;
}
