/**
 * The list of all ways in which a request can fail.
 *
 * Operations throw a `Failure` and know no status codes; each door translates the kinds into its
 * own protocol. Any other error is our bug and is answered with "internal error".
 */

/** Every kind with its default message. */
export const FAILURES = {
  invalid_request: 'invalid request',
  invalid_api_key: 'invalid api key',
  payment_required: 'payment required: add credit to activate this tenant',
  credit_spent: 'insufficient credit: top up to admit new sessions',
  budget_reached: 'budget reached',
  permission_denied: 'permission denied',
  tenant_not_active: 'tenant is not active',
  not_found: 'not found',
  method_not_allowed: 'method not allowed',
  already_rotated: 'already rotated',
  already_revoked: 'already revoked',
  already_expired: 'already expired',
  room_exists: 'room already exists',
  room_ended: 'room has ended',
  room_locked: 'room is locked',
  room_full: 'room is full',
  age_verification_required: 'room requires age verification',
  username_confusable: 'invalid request: username looks like that of a user who is in the room',
  username_taken: 'username belongs to a user in the room with a higher rank',
  banned: 'permission denied: banned',
  relay_key: 'permission denied: relay keys only report usage',
  other_tenant: 'permission denied: this key is of another tenant',
  capability_required: 'permission denied: the actor lacks a capability',
  insufficient_standing: 'permission denied: the actor has no standing over the target',
  ceiling_exceeded: 'permission denied: beyond the ceiling of this key',
  too_many_bans: 'too many banned address ranges',
  watchdog_exists: 'watchdog already exists',
  watchdog_over: 'watchdog does not wait any more',
  idempotency_key_reused: 'invalid request: idempotency_key was used for another request',
  immutable_field: 'invalid request: this field cannot be changed',
  participant_present: 'participant is in a room: end the session first',
  quota_exceeded: 'limit reached',
  too_many_streams: 'too many open streams',
  too_many_calls: 'too many calls at the same time',
  too_many_requests: 'too many requests with this api key',
  overloaded: 'the service is busy: try again',
  request_timeout: 'the request was not complete in time',
  month_not_over: 'the month is not over',
  export_running: 'an export of this tenant is under way: wait for its end',
  status_change_refused: 'tenant status cannot change that way',
  last_owner: 'a tenant keeps at least one owner',
  would_stop_service:
    "this is the tenant's last working key of its kind: add confirm=stop-service to revoke it",
  too_many_signups: 'too many signups from this address',
  too_many_checkouts: 'too many checkouts',
  too_many_joins: 'too many joins with this credential',
  too_many_logins: 'too many attempts to log in',
  too_many_invitations: 'too many invitations',
  too_many_failed_keys: 'too many failed api keys from this address',
  provider_error: 'payment provider error',
  payments_not_configured: 'payments are not configured on this deployment',
} as const;

export type FailureKind = keyof typeof FAILURES;

/** A request that cannot be served, for a reason that the caller may see. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;
  /** Seconds until a retry makes sense, if known. */
  readonly retryAfter: number | undefined;
  /** Path of the invalid field, if a single field is invalid. */
  readonly field: string | undefined;
  /** Machine-readable details, such as what is missing or exceeded. */
  readonly metadata: Readonly<Record<string, string>>;
  /** The kind of resource that was not found, such as `room`, for doors that report it. */
  readonly resource: string | undefined;

  constructor(kind: FailureKind, options: FailureOptions = {}) {
    super(options.message ?? FAILURES[kind], { cause: options.cause });
    this.kind = kind;
    this.retryAfter = options.retryAfter;
    this.field = options.field;
    this.metadata = options.metadata ?? {};
    this.resource = options.resource;
  }
}

export interface FailureOptions {
  readonly message?: string;
  readonly retryAfter?: number;
  readonly field?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly resource?: string;
  readonly cause?: unknown;
}

/** The request is invalid; `what` names the field and what it accepts. `field`: its path, if a single one is wrong. */
export function invalidRequest(what: string, field?: string): Failure {
  return new Failure('invalid_request', {
    message: `invalid request: ${what}`,
    ...(field !== undefined && { field }),
  });
}

/** One field is invalid; `accepts` follows its path in the message: `must be ...`, `is required`. */
export function invalidField(field: string, accepts: string): Failure {
  return invalidRequest(`${field} ${accepts}`, field);
}

/** Seconds after which clients ask a busy process again. */
export const RETRY_AFTER_OVERLOADED = 2;

/** Needs the one of several database servers that is away while others work. */
export function serverAway(): Failure {
  const retryAfter = RETRY_AFTER_OVERLOADED;
  return new Failure('overloaded', { retryAfter, message: 'a database server is away: try again' });
}

/** The tenant has no such `resource`. */
export function notFound(resource: string): Failure {
  return new Failure('not_found', { resource });
}
