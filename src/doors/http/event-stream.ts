/** Answers that are server-sent events. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { preferredType } from './accept.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream';

/** Whether it is asked for in place of `otherwise`. A HEAD would never end. */
export function wantsEventStream({ method, headers }: FastifyRequest, otherwise: string): boolean {
  return (
    method === 'GET' && preferredType(headers.accept, [otherwise, EVENT_STREAM_TYPE]) === EVENT_STREAM_TYPE
  );
}

/** A proxy in front must hand on each event at once. */
export function typeEventStream(reply: FastifyReply): FastifyReply {
  return reply.type(`${EVENT_STREAM_TYPE}; charset=utf-8`).header('x-accel-buffering', 'no');
}
