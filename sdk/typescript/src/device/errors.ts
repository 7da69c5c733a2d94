/** Errors of devices, as types. */

/** Source: specification 7.2. Only temporary failures are retried. A join may be repeated safely. */
const BY_STATUS = {
  400: { code: 'INVALID', retryable: false },
  401: { code: 'UNAUTHENTICATED', retryable: false },
  402: { code: 'NO_CREDIT', retryable: false },
  403: { code: 'DENIED', retryable: false },
  404: { code: 'NOT_FOUND', retryable: false },
  405: { code: 'METHOD_NOT_ALLOWED', retryable: false },
  409: { code: 'PRECONDITION_FAILED', retryable: false },
  429: { code: 'RATE_LIMITED', retryable: true },
  500: { code: 'INTERNAL', retryable: true },
  503: { code: 'UNAVAILABLE', retryable: true },
  504: { code: 'DEADLINE_EXCEEDED', retryable: true },
} as const;

/** How the line begins that tells one reason for 402 from the other (docs/budgets.md). */
const BUDGET = 'budget reached:';

export type JoinErrorCode =
  | (typeof BY_STATUS)[keyof typeof BY_STATUS]['code']
  /** A hard budget has too little left for this session. The message names it. */
  | 'BUDGET_REACHED'
  /** The service does not allow web pages of this origin (CORS). */
  | 'ORIGIN_REFUSED'
  /** There was no answer. */
  | 'NETWORK'
  /** The answer is not one of the join endpoint's. */
  | 'BAD_ANSWER';

/** The join endpoint did not give a token. */
export class JoinError extends Error {
  override readonly name = 'JoinError';
  /** Why. */
  readonly code: JoinErrorCode;
  /** Undefined when there was no answer. */
  readonly status: number | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** How long the server asks to wait. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: JoinErrorCode,
    message: string,
    options: {
      /** HTTP status. */
      status?: number;
      /** Whether the same request may succeed later. */
      retryable?: boolean;
      /** What the server asks for. */
      retryAfterSeconds?: number | undefined;
    } & ErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.status = options.status;
    this.retryable = options.retryable ?? false;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }
}

/** The error of an answer other than 200, whose body is a line of plain text. */
export function joinErrorOf(status: number, body: string, retryAfter: string | null): JoinError {
  const known = BY_STATUS[status as keyof typeof BY_STATUS];
  const retryAfterSeconds =
    retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const message = body.trim().slice(0, 500) || `the join endpoint answered ${status}`;
  // Proxies have their own answers, such as 502 while the service restarts.
  if (!known) return new JoinError('BAD_ANSWER', message, { status, retryable: status >= 500 });
  const code = status === 402 && message.startsWith(BUDGET) ? 'BUDGET_REACHED' : known.code;
  return new JoinError(code, message, { status, retryable: known.retryable, retryAfterSeconds });
}

/**
 * The room requires end-to-end encryption, and no encryption key was set.
 *
 * This does not end a session: set a key and try again (specification 6.4).
 */
export class EncryptionRequiredError extends Error {
  override readonly name = 'EncryptionRequiredError';
  readonly code = 'encryptionRequired';

  constructor() {
    super('this room requires end-to-end encryption: set an encryption key and try again');
  }
}

/** A relay did not accept a connection. `code` is one of docs/tokens.md, or of the relay; `NETWORK`: it gave no answer. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  /** Why. */
  readonly code: string;
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined;
  /** Why a moderator acted, if that is the cause: `kicked`, `banned`, `closed`, `ended` or `watchdog`. */
  readonly reason: string | undefined;

  constructor(
    code: string,
    message: string,
    status: number | undefined,
    reason: string | undefined,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.code = code;
    this.status = status;
    this.reason = reason;
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return this.status === undefined || this.status >= 500;
  }
}
