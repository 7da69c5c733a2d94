/** Reasons of failures. Made from proto/boxoffice/control/v1/errors.json by scripts/make-error-kinds.ts; not to be edited. */

/**
 * What a failure is to a program. Source: specification 7.4.
 *
 * `Closed` is a room that has ended, `Precondition` any other state that prevents the call (see `reason`,
 * such as `NO_CREDIT`); `RateLimited` comes from REST only; `Timeout` is the client's or a server's time limit.
 */
export type ErrorKind =
  | 'Unauthenticated'
  | 'Denied'
  | 'Invalid'
  | 'NotFound'
  | 'Exists'
  | 'Closed'
  | 'Precondition'
  | 'Unavailable'
  | 'Internal'
  | 'Timeout'
  | 'RateLimited';

/** By code, of failures whose reason is not known here. */
export const KINDS = {
  UNAUTHENTICATED: 'Unauthenticated',
  PERMISSION_DENIED: 'Denied',
  INVALID_ARGUMENT: 'Invalid',
  NOT_FOUND: 'NotFound',
  ALREADY_EXISTS: 'Exists',
  FAILED_PRECONDITION: 'Precondition',
  UNAVAILABLE: 'Unavailable',
  INTERNAL: 'Internal',
  CANCELLED: 'Timeout',
  DEADLINE_EXCEEDED: 'Timeout',
  RESOURCE_EXHAUSTED: 'Invalid',
  UNIMPLEMENTED: 'Invalid',
} as const satisfies Readonly<Record<string, ErrorKind>>;

/** By status of a REST answer. */
export const KINDS_BY_STATUS = {
  400: 'Invalid',
  401: 'Unauthenticated',
  402: 'Precondition',
  403: 'Denied',
  404: 'NotFound',
  405: 'Invalid',
  409: 'Precondition',
  413: 'Invalid',
  415: 'Invalid',
  422: 'Invalid',
  429: 'RateLimited',
  500: 'Internal',
  502: 'Unavailable',
  503: 'Unavailable',
  504: 'Unavailable',
} as const satisfies Readonly<Record<number, ErrorKind>>;

/** By reason, the code that it comes with. */
export const REASONS = {
  AGE_VERIFICATION_REQUIRED: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  ALREADY_EXPIRED: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  ALREADY_REVOKED: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  ALREADY_ROTATED: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  BANNED: { code: 'PERMISSION_DENIED', kind: 'Denied' },
  BUDGET_REACHED: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  CAPABILITY_REQUIRED: { code: 'PERMISSION_DENIED', kind: 'Denied' },
  CEILING_EXCEEDED: { code: 'PERMISSION_DENIED', kind: 'Denied' },
  IDEMPOTENCY_KEY_REUSED: { code: 'INVALID_ARGUMENT', kind: 'Invalid' },
  IMMUTABLE_FIELD: { code: 'INVALID_ARGUMENT', kind: 'Invalid' },
  INSUFFICIENT_STANDING: { code: 'PERMISSION_DENIED', kind: 'Denied' },
  INTERNAL: { code: 'INTERNAL', kind: 'Internal' },
  INVALID_API_KEY: { code: 'UNAUTHENTICATED', kind: 'Unauthenticated' },
  INVALID_REQUEST: { code: 'INVALID_ARGUMENT', kind: 'Invalid' },
  NOT_FOUND: { code: 'NOT_FOUND', kind: 'NotFound' },
  NO_CREDIT: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  OTHER_TENANT: { code: 'PERMISSION_DENIED', kind: 'Denied' },
  OVERLOADED: { code: 'UNAVAILABLE', kind: 'Unavailable' },
  QUOTA_EXCEEDED: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  RELAY_KEY: { code: 'PERMISSION_DENIED', kind: 'Denied' },
  ROOM_ENDED: { code: 'FAILED_PRECONDITION', kind: 'Closed' },
  ROOM_EXISTS: { code: 'ALREADY_EXISTS', kind: 'Exists' },
  ROOM_FULL: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  ROOM_LOCKED: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  TENANT_NOT_ACTIVE: { code: 'PERMISSION_DENIED', kind: 'Denied' },
  TOO_MANY_BANS: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
  TOO_MANY_CALLS: { code: 'UNAVAILABLE', kind: 'Unavailable' },
  TOO_MANY_FAILED_KEYS: { code: 'UNAVAILABLE', kind: 'Unavailable' },
  TOO_MANY_REQUESTS: { code: 'UNAVAILABLE', kind: 'Unavailable' },
  TOO_MANY_STREAMS: { code: 'UNAVAILABLE', kind: 'Unavailable' },
  UNAVAILABLE: { code: 'UNAVAILABLE', kind: 'Unavailable' },
  USERNAME_CONFUSABLE: { code: 'INVALID_ARGUMENT', kind: 'Invalid' },
  WATCHDOG_EXISTS: { code: 'ALREADY_EXISTS', kind: 'Exists' },
  WATCHDOG_OVER: { code: 'FAILED_PRECONDITION', kind: 'Precondition' },
} as const satisfies Readonly<
  Record<string, { readonly code: keyof typeof KINDS; readonly kind: ErrorKind }>
>;

export type ErrorReason = keyof typeof REASONS;

/** Longer answers are refused, so that a faulty proxy cannot fill the memory. */
export const ANSWER_BYTES_MAX = 33_554_432;
