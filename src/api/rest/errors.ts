/** How a failure leaves by this door. Source: specification 7.1. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { FAILURES, Failure, type FailureKind, invalidRequest } from '../../failure.ts';
import { JsonError } from './strict-json.ts';

const STATUS = {
  invalid_request: 400,
  invalid_api_key: 401,
  tenant_not_active: 403,
  not_found: 404,
  method_not_allowed: 405,
  already_rotated: 409,
  already_revoked: 409,
  status_change_refused: 409,
  would_stop_service: 409,
  too_many_signups: 429,
  too_many_failed_keys: 429,
  provider_error: 502,
  payments_not_configured: 503,
} as const satisfies Record<FailureKind, number>;

/** There is no telling when payments will be configured; an hour keeps clients from asking all the time. */
const RETRY_AFTER_NOT_CONFIGURED = 3600;

/** Answer with what was thrown, whatever it is. */
export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = asFailure(error) ?? (request.raw.complete ? undefined : asIncomplete(error));
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

/** Read Fastify's own refusals as the failures they are; anything unknown is ours to answer for. */
function asFailure(error: unknown): Failure | undefined {
  if (error instanceof Failure) return error;
  if (error instanceof JsonError) return invalidRequest(error.message);
  const { code, validation } = error as FastifyError;
  if (validation) return invalidRequest(describeFault(validation[0]));
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return invalidRequest('body exceeds 1 MiB');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return invalidRequest('Content-Type must be application/json');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return invalidRequest('the body does not have the length that was announced');
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new Failure('not_found');
    default:
      return undefined;
  }
}

/**
 * What went wrong while the request was still arriving is its sender's to mend.
 *
 * Once it is complete the same codes mean that the database was lost, or that we were too slow: a
 * relay must then hear 500 and send its batch again, never a 400 that tells it to give up.
 */
function asIncomplete(error: unknown): Failure | undefined {
  switch ((error as FastifyError).code) {
    case 'FST_ERR_HANDLER_TIMEOUT':
      return invalidRequest('the request was not complete in time');
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return invalidRequest('the body ended early');
    default:
      return undefined;
  }
}

type Fault = NonNullable<FastifyError['validation']>[number];

/** The field's path and what it accepts: `records/17/seconds must be <= 86400`. */
function describeFault(fault: Fault | undefined): string {
  if (!fault) return 'the request is not valid';
  const path = fault.instancePath.slice(1);
  if (fault.keyword === 'additionalProperties') {
    const unknown = String(fault.params.additionalProperty).slice(0, 100);
    return `${path ? `${path}/` : ''}${unknown} is not a known field`;
  }
  if (fault.keyword === 'required') {
    return `${path ? `${path}/` : ''}${fault.params.missingProperty} is required`;
  }
  if (fault.keyword === 'enum') {
    return `${path} must be one of ${(fault.params.allowedValues as string[]).join(', ')}`;
  }
  return `${path || 'body'} ${(fault.message ?? 'is not valid').replace(/^must NOT have/, 'must not have')}`;
}

/** What a socket is told that did not speak HTTP, or not in time. */
export function renderClientError(code: string | undefined, requestId: string): string {
  const what =
    code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? 'the request was not complete in time'
      : code === 'HPE_HEADER_OVERFLOW'
        ? 'the head of the request is too large'
        : 'this is not an HTTP request';
  const text = JSON.stringify({ error: `${FAILURES.invalid_request}: ${what}` });
  return [
    'HTTP/1.1 400 Bad Request',
    'content-type: application/json; charset=utf-8',
    'cache-control: no-store',
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
    '',
    text,
  ].join('\r\n');
}
