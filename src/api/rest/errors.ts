/** How a failure leaves by this door. Source: specification 7.1. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { FailureKind } from '../../failure.ts';
import { asFailure, describeClientError, renderRaw } from '../refusals.ts';

const STATUS = {
  invalid_request: 400,
  invalid_api_key: 401,
  payment_required: 402,
  credit_spent: 402,
  permission_denied: 403,
  tenant_not_active: 403,
  not_found: 404,
  method_not_allowed: 405,
  already_rotated: 409,
  already_revoked: 409,
  already_expired: 409,
  room_exists: 409,
  room_ended: 409,
  room_locked: 409,
  room_full: 409,
  age_verification_required: 409,
  username_confusable: 400,
  banned: 403,
  relay_key: 403,
  other_tenant: 403,
  capability_required: 403,
  insufficient_standing: 403,
  ceiling_exceeded: 403,
  too_many_bans: 409,
  watchdog_exists: 409,
  watchdog_over: 409,
  idempotency_key_reused: 400,
  immutable_field: 400,
  too_many_streams: 429,
  status_change_refused: 409,
  would_stop_service: 409,
  too_many_signups: 429,
  too_many_joins: 429,
  too_many_failed_keys: 429,
  provider_error: 502,
  payments_not_configured: 503,
} as const satisfies Record<FailureKind, number>;

/** There is no telling when payments will be configured; an hour keeps clients from asking all the time. */
const RETRY_AFTER_NOT_CONFIGURED = 3600;

/** Answer with what was thrown, whatever it is. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = asFailure(error, request, '1 MiB');
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
  return reply.code(STATUS[failure.kind]).send({
    error: failure.message,
    ...(failure.kind === 'would_stop_service' ? { code: failure.kind } : {}),
  });
}

/** What a socket is told that did not speak HTTP, or not in time. */
export function renderClientError(code: string | undefined, requestId: string): string {
  const text = JSON.stringify({ error: describeClientError(code) });
  return renderRaw('application/json; charset=utf-8', text, requestId);
}
