/** What calls of this client fail with. */
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
  StatusSchema,
} from '@boxoffice/contract/google/rpc/error_details';
import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack, durationMs } from '@bufbuild/protobuf/wkt';
import { type ServiceError, status } from '@grpc/grpc-js';
import { type ErrorKind as ControlErrorKind, KINDS, REASONS } from './error-reasons.ts';

/**
 * What a failure is to a program. Source: specification 7.4.
 *
 * `Closed` is a room that has ended, `Precondition` any other state that refuses (see `reason`, such as
 * `NO_CREDIT`); `RateLimited` comes from REST alone; `Timeout` is the client's own limit, or a server's.
 */
export type ErrorKind = ControlErrorKind | 'RateLimited' | 'Timeout';

/** One field of the request that is wrong. */
export interface FieldViolation {
  /** Its path in the contract, such as `policy.max_participants`; empty where it is not known. */
  readonly field: string;
  /** What it accepts. */
  readonly description: string;
}

interface Details {
  readonly kind: ErrorKind;
  readonly code: string | number;
  readonly message: string;
  readonly reason?: string | undefined;
  readonly requestId?: string | undefined;
  readonly fields?: readonly FieldViolation[] | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly cause?: unknown;
}

/** The service refused, failed, or was not reached. */
export class BoxofficeError extends Error {
  override readonly name = 'BoxofficeError';
  readonly kind: ErrorKind;
  /** A name of gRPC such as `NOT_FOUND`, or the status of an HTTP answer. */
  readonly code: string | number;
  /** A constant that tells failures of a kind apart, such as `NO_CREDIT`; empty where there is none. */
  readonly reason: string;
  /** Tell it whoever runs the service; `undefined` where there was no answer. */
  readonly requestId: string | undefined;
  /** What is wrong with the request, of `Invalid`. */
  readonly fields: readonly FieldViolation[];
  /** The least that the service asks to wait, where it does. */
  readonly retryAfterMs: number | undefined;
  /** More about it, such as the capability that is missing. */
  readonly metadata: Readonly<Record<string, string>>;

  constructor(details: Details) {
    super(details.message, details.cause === undefined ? {} : { cause: details.cause });
    this.kind = details.kind;
    this.code = details.code;
    this.reason = details.reason ?? '';
    this.requestId = details.requestId;
    this.fields = details.fields ?? [];
    this.retryAfterMs = details.retryAfterMs;
    this.metadata = details.metadata ?? {};
  }
}

export function timeoutError(): BoxofficeError {
  const message = 'there was no answer in time';
  return new BoxofficeError({ kind: 'Timeout', code: 'DEADLINE_EXCEEDED', message });
}

/** How a call of the control plane failed. */
export function errorOfCall(error: ServiceError): BoxofficeError {
  const code = status[error.code] ?? 'UNKNOWN';
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  const details = bytes instanceof Buffer ? detailsOf(bytes) : {};
  const [requestId] = error.metadata?.get('x-request-id') ?? [];
  return new BoxofficeError({
    kind: kindOfCall(code, details.reason),
    code,
    // Without details it is gRPC itself that failed, and its words may help.
    message: error.details || `the control plane answered ${code}`,
    requestId: requestId?.toString(),
    ...details,
  });
}

/** What gRPC itself says, here, in the service or between them: a request that is too large, or unknown there. */
const KINDS_OF_GRPC: Readonly<Record<string, ErrorKind>> = {
  CANCELLED: 'Timeout',
  DEADLINE_EXCEEDED: 'Timeout',
  RESOURCE_EXHAUSTED: 'Invalid',
  UNIMPLEMENTED: 'Invalid',
};

function kindOfCall(code: string, reason: string | undefined): ErrorKind {
  const known = REASONS[reason as keyof typeof REASONS];
  // A reason counts with its own code only: another one has a meaning of its own.
  if (known?.code === code) return known.kind;
  return KINDS[code as keyof typeof KINDS] ?? KINDS_OF_GRPC[code] ?? 'Internal';
}

function detailsOf(bytes: Buffer): Partial<Details> {
  const found: { -readonly [Name in keyof Details]?: Details[Name] } = {};
  try {
    for (const any of fromBinary(StatusSchema, bytes).details) {
      const info = anyUnpack(any, ErrorInfoSchema);
      if (info) {
        const { request_id: _, ...metadata } = info.metadata;
        Object.assign(found, { reason: info.reason, metadata });
      }
      const badRequest = anyUnpack(any, BadRequestSchema);
      if (badRequest) {
        found.fields = badRequest.fieldViolations.map(({ field, description }) => ({ field, description }));
      }
      const retryDelay = anyUnpack(any, RetryInfoSchema)?.retryDelay;
      if (retryDelay) found.retryAfterMs = durationMs(retryDelay);
    }
  } catch {
    // Details that cannot be read leave the code and the message.
  }
  return found;
}

/** Source: specification 7.1. */
const KIND_BY_STATUS: Readonly<Record<number, ErrorKind>> = {
  400: 'Invalid',
  401: 'Unauthenticated',
  402: 'Precondition',
  403: 'Denied',
  404: 'NotFound',
  405: 'Invalid',
  409: 'Precondition',
  413: 'Invalid',
  415: 'Invalid',
  429: 'RateLimited',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Unavailable',
};

/** How an answer of the REST interface refuses; `body` is whatever came. */
export function errorOfAnswer(answer: Response, body: string): BoxofficeError {
  const { status: code, headers } = answer;
  const { error, code: reason } = parseObject(body);
  const message = typeof error === 'string' ? error : `the service answered ${code}`;
  return new BoxofficeError({
    kind: KIND_BY_STATUS[code] ?? 'Internal',
    code,
    message,
    reason: code === 402 ? 'NO_CREDIT' : typeof reason === 'string' ? reason.toUpperCase() : '',
    requestId: headers.get('x-request-id') ?? undefined,
    fields: code === 400 ? [{ field: '', description: message.replace(/^invalid request: /, '') }] : [],
    retryAfterMs: parseRetryAfter(headers.get('retry-after')),
  });
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Milliseconds, from seconds or a date. Source: RFC 9110, 10.2.3. */
function parseRetryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0);
}
