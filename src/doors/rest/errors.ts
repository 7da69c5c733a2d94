/** How a failure leaves by this door. Source: specification 7.1. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asFailure, asPassing, clientFailure, renderRaw } from '../http/refusals.ts';
import { STATUS } from '../http/status.ts';
import { BODY_MAX, FIELD_LENGTH_MAX } from './limits.ts';

/** It is unknown when payments will be configured. An hour limits how often clients retry. */
const RETRY_AFTER_NOT_CONFIGURED = 3600;
/** The failure's own message names a field of the control plane. */
const KEY_REUSED = 'invalid request: Idempotency-Key was used for another request';

/** Answer with what was thrown. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = asPassing(error, request) ?? asFailure(error, request, BODY_MAX);
  if (!failure) {
    request.log.error({ err: error }, 'internal error');
    return reply.code(500).send({ error: 'internal error' });
  }
  if (failure.kind === 'provider_error') request.log.warn({ err: failure.cause }, 'payment provider error');
  if (failure.kind === 'invalid_api_key') reply.header('www-authenticate', 'Bearer');
  const retryAfter =
    failure.retryAfter ??
    (failure.kind === 'payments_not_configured' ? RETRY_AFTER_NOT_CONFIGURED : undefined);
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
  if (failure.field !== undefined) reply.header('invalid-field', renderField(failure.field));
  return reply.code(STATUS[failure.kind]).send({
    error: failure.kind === 'idempotency_key_reused' ? KEY_REUSED : failure.message,
    ...(failure.kind === 'would_stop_service' ? { code: failure.kind } : {}),
  });
}

/** As a header may hold it: what is not visible ASCII is percent-encoded, and so is `%`. */
function renderField(field: string): string {
  const bounded = field.slice(0, FIELD_LENGTH_MAX).toWellFormed();
  return bounded.replace(/[^\x21-\x7e]|%/gu, encodeURIComponent);
}

/** The answer on a socket after malformed or late HTTP. */
export function renderClientError(code: string | undefined, requestId: string): string {
  const failure = clientFailure(code);
  const text = JSON.stringify({ error: failure.message });
  return renderRaw(failure, { contentType: 'application/json; charset=utf-8', text }, requestId);
}
