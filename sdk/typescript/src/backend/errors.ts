/** Errors of this client. */
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
  StatusSchema,
} from '@boxoffice/contract/google/rpc/error_details';
import { fromBinary } from '@bufbuild/protobuf';
import { anyUnpack, durationMs } from '@bufbuild/protobuf/wkt';
import { type ServiceError, status } from '@grpc/grpc-js';
import { type ErrorKind, KINDS, KINDS_BY_STATUS, REASONS } from './error-kinds.ts';

/** An invalid field of the request. */
export interface FieldViolation {
  /**
   * Its path: in the contract, such as `policy.max_participants`, or of REST, such as `records/0/seconds`; empty if no
   * single field is wrong.
   */
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
  /** What kind of failure it is. */
  readonly kind: ErrorKind;
  /** A gRPC code name such as `NOT_FOUND`, or the status of an HTTP answer. */
  readonly code: string | number;
  /** A stable identifier such as `NO_CREDIT`; empty if there is none. */
  readonly reason: string;
  /** Quote it to the operator of the service; `undefined` if there was no answer. */
  readonly requestId: string | undefined;
  /** The invalid fields, for `Invalid`. */
  readonly fields: readonly FieldViolation[];
  /** The minimum wait that the service asks for, if it does. */
  readonly retryAfterMs: number | undefined;
  /** Further details, such as the missing capability. */
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

/** `close()` was called. Nothing was sent. */
export class ClientClosed extends Error {
  override readonly name = 'ClientClosed';

  constructor() {
    super('the client is closed');
  }
}

export function timeoutError(): BoxofficeError {
  const message = 'there was no answer in time';
  return new BoxofficeError({ kind: 'Timeout', code: 'DEADLINE_EXCEEDED', message });
}

/** The error of a failed control-plane call. */
export function errorOfCall(error: ServiceError): BoxofficeError {
  const code = status[error.code] ?? 'UNKNOWN';
  const [bytes] = error.metadata?.get('grpc-status-details-bin') ?? [];
  const details = bytes instanceof Buffer ? detailsOf(bytes) : {};
  const [requestId] = error.metadata?.get('x-request-id') ?? [];
  return new BoxofficeError({
    kind: kindOfCall(code, details.reason),
    code,
    // Without details, gRPC itself failed, and its message may help.
    message: error.details || `the control plane answered ${code}`,
    ...details,
    // Proxies may drop the trailer.
    requestId: requestId?.toString() ?? details.requestId,
  });
}

function kindOfCall(code: string, reason: string | undefined): ErrorKind {
  const known = REASONS[reason as keyof typeof REASONS];
  // A reason only counts together with its own code. With another code it is not a known reason.
  if (known?.code === code) return known.kind;
  return KINDS[code as keyof typeof KINDS] ?? 'Internal';
}

function detailsOf(bytes: Buffer): Partial<Details> {
  const found: { -readonly [Name in keyof Details]?: Details[Name] } = {};
  try {
    for (const any of fromBinary(StatusSchema, bytes).details) {
      const info = anyUnpack(any, ErrorInfoSchema);
      if (info) {
        const { request_id: requestId, ...metadata } = info.metadata;
        Object.assign(found, { reason: info.reason, metadata, requestId });
      }
      const badRequest = anyUnpack(any, BadRequestSchema);
      if (badRequest) {
        found.fields = badRequest.fieldViolations.map(({ field, description }) => ({ field, description }));
      }
      const retryDelay = anyUnpack(any, RetryInfoSchema)?.retryDelay;
      if (retryDelay) found.retryAfterMs = durationMs(retryDelay);
    }
  } catch {
    // Without readable details, code and message remain.
  }
  return found;
}

/** The error of a REST answer; `body` may be anything. */
export function errorOfAnswer(answer: Response, body: string): BoxofficeError {
  const { status: code, headers } = answer;
  const { error, code: reason } = parseObject(body);
  const message = typeof error === 'string' ? error : `the service answered ${code}`;
  return new BoxofficeError({
    kind: KINDS_BY_STATUS[code as keyof typeof KINDS_BY_STATUS] ?? 'Internal',
    code,
    message,
    reason: code === 402 ? 'NO_CREDIT' : typeof reason === 'string' ? reason.toUpperCase() : '',
    requestId: headers.get('x-request-id') ?? undefined,
    fields: code === 400 ? [violationOf(headers.get('invalid-field'), message)] : [],
    retryAfterMs: parseRetryAfter(headers.get('retry-after')),
  });
}

/** The description is what the message says of the field. */
function violationOf(header: string | null, message: string): FieldViolation {
  const field = decodeField(header ?? '');
  const what = message.replace(/^invalid request: /, '');
  return {
    field,
    description: field !== '' && what.startsWith(`${field} `) ? what.slice(field.length + 1) : what,
  };
}

/** What is not percent-encoded UTF-8, the service did not send. */
function decodeField(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    return '';
  }
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
