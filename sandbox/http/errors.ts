/**
 * The error envelope of Stripe's API: `{"error": {"type", "code", "message", "param", ...}}`.
 *
 * Source: docs.stripe.com/api/errors.
 */

export type ErrorType = 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';

export interface ErrorDetails {
  readonly code?: string;
  readonly param?: string;
  readonly decline_code?: string;
  readonly advice_code?: string;
  readonly network_decline_code?: string;
  readonly charge?: string;
  readonly payment_intent?: unknown;
  readonly payment_method?: unknown;
}

/**
 * An answer other than 2xx. Writes before the throw are kept, because
 * a declined payment is recorded too.
 *
 * `stage` says whether the operation had started: only then is the answer stored for its
 * idempotency key.
 */
export class ApiError extends Error {
  readonly status: number;
  readonly type: ErrorType;
  readonly details: ErrorDetails;
  readonly stage: 'validation' | 'execution';

  constructor(
    status: number,
    type: ErrorType,
    message: string,
    details: ErrorDetails = {},
    stage: 'validation' | 'execution' = 'execution',
  ) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.type = type;
    this.details = details;
    this.stage = stage;
  }
}

/** The body for an error. */
export function renderError(error: ApiError): { error: Record<string, unknown> } {
  const { code } = error.details;
  return {
    error: {
      ...error.details,
      ...(code === undefined ? {} : { doc_url: `https://docs.stripe.com/error-codes/${slug(code)}` }),
      message: error.message,
      type: error.type,
    },
  };
}

/** A parameter is invalid in itself: nothing was looked up or changed. */
export function invalidRequest(message: string, details: ErrorDetails = {}): ApiError {
  return new ApiError(400, 'invalid_request_error', message, details, 'validation');
}

/** The request is well formed, but the state does not allow it. */
export function refused(message: string, details: ErrorDetails = {}): ApiError {
  return new ApiError(400, 'invalid_request_error', message, details);
}

/** An identifier in the path (404), or in the parameter `param` (400), does not exist. */
export function resourceMissing(kind: string, id: string, param?: string): ApiError {
  const status = param === undefined ? 404 : 400;
  return new ApiError(status, 'invalid_request_error', `No such ${kind}: '${id.slice(0, 100)}'`, {
    code: 'resource_missing',
    param: param ?? 'id',
  });
}

/** The bank declined, HTTP 402. */
export function cardError(message: string, details: ErrorDetails): ApiError {
  return new ApiError(402, 'card_error', message, details);
}

export function unauthorized(message: string): ApiError {
  return new ApiError(401, 'invalid_request_error', message, {}, 'validation');
}

export function rateLimited(): ApiError {
  const message = 'Request rate limit exceeded. Learn more about rate limits at docs.stripe.com/rate-limits.';
  return new ApiError(429, 'invalid_request_error', message, { code: 'rate_limit' }, 'validation');
}

export function internalError(): ApiError {
  return new ApiError(500, 'api_error', 'An unknown error occurred in the sandbox.');
}

function slug(code: string): string {
  return code.replaceAll('_', '-');
}
