/** Failures that the HTTP server itself reports, as ours. */
import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyRequest } from 'fastify';
import { isPassing, outageOf } from '../../base/db/outage.ts';
import {
  Failure,
  invalidField,
  invalidRequest,
  RETRY_AFTER_OVERLOADED,
  serverAway,
} from '../../base/failure.ts';
import { JsonError } from '../../base/lib/strict-json.ts';
import { STATUS } from './status.ts';

/**
 * Map Fastify's own errors to failures. Unknown errors are internal.
 *
 * `bodyMax` is the maximum body size, in words.
 */
export function asFailure(error: unknown, request: FastifyRequest, bodyMax: string): Failure | undefined {
  return asRefusal(error, bodyMax) ?? (request.raw.complete ? undefined : asIncomplete(error));
}

function asRefusal(error: unknown, bodyMax: string): Failure | undefined {
  if (error instanceof Failure) return error;
  if (error instanceof JsonError) return invalidRequest(error.message, error.field);
  const { code, validation } = error as FastifyError;
  if (validation) return describeFault(validation[0]);
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return invalidRequest(`body exceeds ${bodyMax}`);
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
 * An error while the request was still arriving is the client's.
 *
 * Once the request is complete, the same codes mean that the database was lost. A relay must then get a 5xx
 * and resend its batch, never a 400 that makes it give up.
 */
function asIncomplete(error: unknown): Failure | undefined {
  const { code, message } = error as FastifyError;
  switch (code) {
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return invalidRequest('the body ended early');
    case 'ECONNRESET':
      // `aborted` means the client's connection. Other connections, such as the database's, say more.
      return message === 'aborted' ? invalidRequest('the body ended early') : undefined;
    default:
      return undefined;
  }
}

/**
 * Clients repeat what the service was too slow for (specification 4.12.4), and what needed the one of several database servers that is
 * away while others work.
 */
export function asPassing(error: unknown, request: FastifyRequest): Failure | undefined {
  const isLate = isTimeout(error);
  if (!isLate && !isPassing(error)) return undefined;
  request.log.warn({ err: error }, isLate ? 'not answered in time' : 'a database server is away');
  return isLate ? new Failure('overloaded', { retryAfter: RETRY_AFTER_OVERLOADED }) : serverAway();
}

/** Whether the service was too slow: the time limit of the answer has passed, or that of a lock or a statement. */
export function isTimeout(error: unknown): boolean {
  const isLate = (error as Partial<FastifyError>).code === 'FST_ERR_HANDLER_TIMEOUT';
  return isLate || outageOf(error) === 'deadline_exceeded';
}

type Fault = NonNullable<FastifyError['validation']>[number];

/** So much of a name that the service does not know is repeated. */
export const UNKNOWN_LENGTH_MAX = 100;

/** Names the field by its path, and says what it accepts: `records/17/seconds must be <= 86400`. */
function describeFault(fault: Fault | undefined): Failure {
  if (!fault) return invalidRequest('the request is not valid');
  const path = fault.instancePath.slice(1);
  const within = path ? `${path}/` : '';
  if (fault.keyword === 'additionalProperties') {
    const unknown = String(fault.params.additionalProperty).slice(0, UNKNOWN_LENGTH_MAX);
    return invalidField(`${within}${unknown}`, 'is not a known field');
  }
  if (fault.keyword === 'required') {
    return invalidField(`${within}${fault.params.missingProperty}`, 'is required');
  }
  if (fault.keyword === 'enum') {
    const allowed = fault.params.allowedValues as string[];
    return invalidField(path, `must be ${allowed.length > 1 ? 'one of ' : ''}${allowed.join(', ')}`);
  }
  const accepts = (fault.message ?? 'is not valid')
    .replace(/^must NOT have/, 'must not have')
    .replace(/^must not have fewer than 1 \w+$/, 'must not be empty')
    .replace(/ \(items ## .*\)$/, '');
  return path ? invalidField(path, accepts) : invalidRequest(`body ${accepts}`);
}

/** Why a connection is closed after malformed or late HTTP. `code` is Node's. */
export function clientFailure(code: string | undefined): Failure {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Failure('request_timeout');
  const isTooLarge = code === 'HPE_HEADER_OVERFLOW';
  return invalidRequest(isTooLarge ? 'the head of the request is too large' : 'this is not an HTTP request');
}

/** An answer written by hand, because there is no request to answer. */
export function renderRaw(
  failure: Failure,
  { contentType, text }: { readonly contentType: string; readonly text: string },
  requestId: string,
): string {
  const status = STATUS[failure.kind];
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${contentType}`,
    'cache-control: no-store',
    `x-request-id: ${requestId}`,
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
    '',
    text,
  ].join('\r\n');
}
