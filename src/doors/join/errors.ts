/** How a failure leaves by this door: one line of plain text. Source: specification 7.2. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Outage, outageOf } from '../../base/db/outage.ts';
import { asFailure, clientFailure, isTimeout, renderRaw } from '../http/refusals.ts';
import { STATUS } from '../http/status.ts';
import { BODY_MAX } from './limits.ts';

const TEXT = 'text/plain; charset=utf-8';

const OUTAGES: Readonly<Record<Outage, { readonly status: number; readonly text: string }>> = {
  unavailable: { status: 503, text: 'temporarily unavailable' },
  deadline_exceeded: { status: 504, text: 'deadline exceeded' },
};

/** A database outage usually lasts seconds. Clients add their own back-off. */
const RETRY_AFTER_OUTAGE = 2;

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.type(TEXT).header('x-content-type-options', 'nosniff');
  const failure = asFailure(error, request, BODY_MAX);
  if (failure) {
    request.outcome = failure.kind;
    if (failure.kind === 'invalid_api_key') reply.header('www-authenticate', 'Bearer');
    if (failure.retryAfter !== undefined) reply.header('retry-after', failure.retryAfter);
    return reply.code(STATUS[failure.kind]).send(oneLine(failure.message));
  }

  const outage = isTimeout(error) ? 'deadline_exceeded' : outageOf(error);
  request.outcome = outage ?? 'internal_error';
  request.log.error({ err: error }, outage ?? 'internal error');
  if (outage === undefined) return reply.code(500).send('internal error');
  if (outage === 'unavailable') reply.header('retry-after', RETRY_AFTER_OUTAGE);
  return reply.code(OUTAGES[outage].status).send(OUTAGES[outage].text);
}

/** Messages may quote the request, such as the name of a field. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '?');
}

export function renderClientError(code: string | undefined, requestId: string): string {
  const failure = clientFailure(code);
  return renderRaw(failure, { contentType: TEXT, text: failure.message }, requestId);
}
