/**
 * The one list of ways in which a request can fail.
 *
 * Operations throw a `Failure` and know no status codes; each door translates the kinds into its
 * own protocol. What is thrown and is not a `Failure` is our bug and leaves as "internal error".
 */

/** Every kind, with the message a caller reads when the operation has nothing more exact to say. */
export const FAILURES = {
  invalid_request: 'invalid request',
  invalid_api_key: 'invalid api key',
  payment_required: 'payment required: add credit to activate this tenant',
  credit_spent: 'insufficient credit: top up to admit new sessions',
  permission_denied: 'permission denied',
  tenant_not_active: 'tenant is not active',
  not_found: 'not found',
  method_not_allowed: 'method not allowed',
  already_rotated: 'already rotated',
  already_revoked: 'already revoked',
  already_expired: 'already expired',
  room_ended: 'room has ended',
  status_change_refused: 'tenant status cannot change that way',
  would_stop_service:
    "this is the tenant's last working key of its kind: add confirm=stop-service to revoke it",
  too_many_signups: 'too many signups from this address',
  too_many_joins: 'too many joins with this credential',
  too_many_failed_keys: 'too many failed api keys from this address',
  provider_error: 'payment provider error',
  payments_not_configured: 'payments are not configured on this deployment',
} as const;

export type FailureKind = keyof typeof FAILURES;

/** A request that cannot be served, for a reason that its caller may know. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly kind: FailureKind;
  /** Seconds after which trying again makes sense, where that is known. */
  readonly retryAfter: number | undefined;

  constructor(kind: FailureKind, options: { message?: string; retryAfter?: number; cause?: unknown } = {}) {
    super(options.message ?? FAILURES[kind], { cause: options.cause });
    this.kind = kind;
    this.retryAfter = options.retryAfter;
  }
}

/** The request itself is wrong; `what` says which field, and what it accepts. */
export function invalidRequest(what: string): Failure {
  return new Failure('invalid_request', { message: `invalid request: ${what}` });
}
