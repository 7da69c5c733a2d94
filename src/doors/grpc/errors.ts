/**
 * How a failure leaves by this door: a code, and machine-readable details.
 *
 * Source: specification 7.3. `ErrorInfo` is always present. Its reasons are listed for each method in
 * `proto/boxoffice/control/v1/errors.json`.
 */
import {
  BadRequestSchema,
  ErrorInfoSchema,
  PreconditionFailureSchema,
  RetryInfoSchema,
  StatusSchema,
} from '@boxoffice/contract/google/rpc/error_details';
import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack, durationFromMs } from '@bufbuild/protobuf/wkt';
import { Metadata, status } from '@grpc/grpc-js';
import { type Outage, outageOf } from '../../base/db/outage.ts';
import { Failure, type FailureKind } from '../../base/failure.ts';

const ERROR_DOMAIN = 'boxoffice';

interface Meaning {
  readonly code: status;
  readonly reason: string;
}

const { ALREADY_EXISTS, FAILED_PRECONDITION, INVALID_ARGUMENT, NOT_FOUND, PERMISSION_DENIED } = status;

const MEANING = {
  invalid_request: { code: INVALID_ARGUMENT, reason: 'INVALID_REQUEST' },
  invalid_api_key: { code: status.UNAUTHENTICATED, reason: 'INVALID_API_KEY' },
  payment_required: { code: FAILED_PRECONDITION, reason: 'NO_CREDIT' },
  credit_spent: { code: FAILED_PRECONDITION, reason: 'NO_CREDIT' },
  budget_reached: { code: FAILED_PRECONDITION, reason: 'BUDGET_REACHED' },
  permission_denied: { code: PERMISSION_DENIED, reason: 'PERMISSION_DENIED' },
  tenant_not_active: { code: PERMISSION_DENIED, reason: 'TENANT_NOT_ACTIVE' },
  not_found: { code: NOT_FOUND, reason: 'NOT_FOUND' },
  method_not_allowed: { code: status.UNIMPLEMENTED, reason: 'UNIMPLEMENTED' },
  already_rotated: { code: FAILED_PRECONDITION, reason: 'ALREADY_ROTATED' },
  already_revoked: { code: FAILED_PRECONDITION, reason: 'ALREADY_REVOKED' },
  already_expired: { code: FAILED_PRECONDITION, reason: 'ALREADY_EXPIRED' },
  room_exists: { code: ALREADY_EXISTS, reason: 'ROOM_EXISTS' },
  room_ended: { code: FAILED_PRECONDITION, reason: 'ROOM_ENDED' },
  room_locked: { code: FAILED_PRECONDITION, reason: 'ROOM_LOCKED' },
  room_full: { code: FAILED_PRECONDITION, reason: 'ROOM_FULL' },
  age_verification_required: { code: FAILED_PRECONDITION, reason: 'AGE_VERIFICATION_REQUIRED' },
  username_confusable: { code: INVALID_ARGUMENT, reason: 'USERNAME_CONFUSABLE' },
  username_taken: { code: FAILED_PRECONDITION, reason: 'USERNAME_TAKEN' },
  banned: { code: PERMISSION_DENIED, reason: 'BANNED' },
  relay_key: { code: PERMISSION_DENIED, reason: 'RELAY_KEY' },
  other_tenant: { code: PERMISSION_DENIED, reason: 'OTHER_TENANT' },
  capability_required: { code: PERMISSION_DENIED, reason: 'CAPABILITY_REQUIRED' },
  insufficient_standing: { code: PERMISSION_DENIED, reason: 'INSUFFICIENT_STANDING' },
  ceiling_exceeded: { code: PERMISSION_DENIED, reason: 'CEILING_EXCEEDED' },
  too_many_bans: { code: FAILED_PRECONDITION, reason: 'TOO_MANY_BANS' },
  watchdog_exists: { code: ALREADY_EXISTS, reason: 'WATCHDOG_EXISTS' },
  watchdog_over: { code: FAILED_PRECONDITION, reason: 'WATCHDOG_OVER' },
  idempotency_key_reused: { code: INVALID_ARGUMENT, reason: 'IDEMPOTENCY_KEY_REUSED' },
  immutable_field: { code: INVALID_ARGUMENT, reason: 'IMMUTABLE_FIELD' },
  participant_present: { code: FAILED_PRECONDITION, reason: 'PARTICIPANT_PRESENT' },
  quota_exceeded: { code: FAILED_PRECONDITION, reason: 'QUOTA_EXCEEDED' },
  too_many_streams: { code: status.UNAVAILABLE, reason: 'TOO_MANY_STREAMS' },
  too_many_calls: { code: status.UNAVAILABLE, reason: 'TOO_MANY_CALLS' },
  too_many_requests: { code: status.UNAVAILABLE, reason: 'TOO_MANY_REQUESTS' },
  overloaded: { code: status.UNAVAILABLE, reason: 'OVERLOADED' },
  request_timeout: { code: status.DEADLINE_EXCEEDED, reason: 'DEADLINE_EXCEEDED' },
  month_not_over: { code: FAILED_PRECONDITION, reason: 'MONTH_NOT_OVER' },
  export_running: { code: FAILED_PRECONDITION, reason: 'EXPORT_RUNNING' },
  status_change_refused: { code: FAILED_PRECONDITION, reason: 'STATUS_CHANGE_REFUSED' },
  would_stop_service: { code: FAILED_PRECONDITION, reason: 'WOULD_STOP_SERVICE' },
  last_owner: { code: FAILED_PRECONDITION, reason: 'LAST_OWNER' },
  too_many_logins: { code: status.UNAVAILABLE, reason: 'TOO_MANY_LOGINS' },
  too_many_signups: { code: status.UNAVAILABLE, reason: 'TOO_MANY_SIGNUPS' },
  too_many_checkouts: { code: status.UNAVAILABLE, reason: 'TOO_MANY_CHECKOUTS' },
  too_many_joins: { code: status.UNAVAILABLE, reason: 'TOO_MANY_JOINS' },
  too_many_invitations: { code: status.UNAVAILABLE, reason: 'TOO_MANY_INVITATIONS' },
  too_many_failed_keys: { code: status.UNAVAILABLE, reason: 'TOO_MANY_FAILED_KEYS' },
  provider_error: { code: status.UNAVAILABLE, reason: 'PROVIDER_ERROR' },
  payments_not_configured: { code: FAILED_PRECONDITION, reason: 'PAYMENTS_NOT_CONFIGURED' },
} as const satisfies Record<FailureKind, Meaning>;

const OUTAGES: Readonly<Record<Outage, string>> = {
  unavailable: 'temporarily unavailable',
  deadline_exceeded: 'the database did not answer in time',
};

/** A database outage usually lasts seconds. Clients add their own back-off. */
const RETRY_SECONDS = 2;

/** The status that a failed call ends with. */
export interface GrpcStatus {
  readonly code: status;
  readonly details: string;
  readonly metadata: Metadata;
}

/** The service is stopping, or the call exceeded the time limit. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/**
 * Maps `error` to a status. Unexpected errors become `INTERNAL`. `request` is the message
 * that failed, if there was one.
 */
export function statusOf(error: unknown, requestId: string, request?: unknown): GrpcStatus {
  if (error instanceof Failure) return ofFailure(error, requestId, request);
  const outage = outageOf(error);
  if (outage || error instanceof UnavailableError) {
    const message = outage ? OUTAGES[outage] : (error as Error).message;
    return render({ code: status.UNAVAILABLE, reason: 'UNAVAILABLE' }, message, requestId, {
      retryAfter: RETRY_SECONDS,
    });
  }
  const meaning = { code: status.INTERNAL, reason: 'INTERNAL' };
  return render(meaning, `internal error: report it with the request id ${requestId}`, requestId, {});
}

function ofFailure(failure: Failure, requestId: string, request: unknown): GrpcStatus {
  const meaning = MEANING[failure.kind];
  const { field, retryAfter, metadata, resource } = failure;
  const message = resource === undefined ? failure.message : `${resource} ${failure.message}`;
  const subject = subjectOf(meaning.reason, request);
  return render(meaning, message, requestId, { field, retryAfter, metadata, subject });
}

/** The subject of a FAILED_PRECONDITION, where the request names it: `rooms/<name>`, `watchdogs/<id>`. */
function subjectOf(reason: string, request: unknown): string {
  const { room, id, watchdog } = (request ?? {}) as SubjectFields;
  if (reason === 'WATCHDOG_OVER') return `watchdogs/${watchdog?.id ?? id}`;
  const name = room ?? watchdog?.room;
  return name && ABOUT_ROOMS.has(reason) ? `rooms/${name}` : '';
}

/** The request fields that name rooms and watchdogs. */
interface SubjectFields {
  readonly room?: string;
  readonly id?: string;
  readonly watchdog?: { readonly id: string; readonly room: string };
}

const ABOUT_ROOMS: ReadonlySet<string> = new Set([
  'ROOM_ENDED',
  'ROOM_LOCKED',
  'ROOM_FULL',
  'AGE_VERIFICATION_REQUIRED',
]);

interface Details {
  readonly field?: string | undefined;
  readonly retryAfter?: number | undefined;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly subject?: string;
}

function render({ code, reason }: Meaning, message: string, requestId: string, more: Details): GrpcStatus {
  const info = { reason, domain: ERROR_DOMAIN, metadata: { ...more.metadata, request_id: requestId } };
  const details = [anyPack(ErrorInfoSchema, create(ErrorInfoSchema, info))];
  if (code === INVALID_ARGUMENT) {
    const { field = '' } = more;
    // Most messages say `invalid request: <field> <what it accepts>`.
    const text = message.replace(/^invalid request: /, '');
    const description = text.startsWith(`${field} `) ? text.slice(field.length + 1) : text;
    const fieldViolations = [{ field, description }];
    details.push(anyPack(BadRequestSchema, create(BadRequestSchema, { fieldViolations })));
  }
  if (code === FAILED_PRECONDITION) {
    const violations = [{ type: reason, subject: more.subject ?? '', description: message }];
    details.push(anyPack(PreconditionFailureSchema, create(PreconditionFailureSchema, { violations })));
  }
  if (code === status.UNAVAILABLE) {
    const retryDelay = durationFromMs((more.retryAfter ?? RETRY_SECONDS) * 1000);
    details.push(anyPack(RetryInfoSchema, create(RetryInfoSchema, { retryDelay })));
  }
  const metadata = new Metadata();
  const whole = create(StatusSchema, { code, message, details });
  metadata.set('grpc-status-details-bin', Buffer.from(toBinary(StatusSchema, whole)));
  metadata.set('x-request-id', requestId);
  return { code, details: message, metadata };
}
