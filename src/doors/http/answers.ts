/** How routes describe what they answer, for the reference at `/docs/rest`. */
import { type TSchema, Type } from '../../base/lib/schema.ts';

/** Why a route answers with an error. Source: specification 7.1 and 7.2. */
const CAUSES = {
  400: 'The request is wrong: `error` says where, and what is accepted',
  401: 'The key is missing, unknown, revoked, or of the other kind',
  402: 'The tenant never paid, its credit is spent, or a hard budget has too little left',
  403: 'The tenant is suspended, archived or deleted, or the key may not do that',
  404: 'There is no such resource',
  405: 'The path exists, but not with this method',
  408: 'The sender stopped before the body was complete: send it again',
  409: 'The state of the resource does not allow it',
  422: 'The `Idempotency-Key` was used for another request',
  429: 'Too many requests: try again after `Retry-After`',
  500: 'An error of the service: try again, with growing waits',
  502: 'The payment provider refused or did not answer',
  503: 'Not available now: try again after `Retry-After`',
  504: 'There was no answer in time: try again, with growing waits',
} as const;

export type ErrorStatus = keyof typeof CAUSES;

/** Any request may be malformed, and any may fail by our fault or wait too long. */
const ALWAYS: readonly ErrorStatus[] = [400, 500, 503];

const RETRY_AFTER = { 'Retry-After': { type: 'integer', description: 'Seconds until the next attempt' } };

/** The header of errors in JSON, whose body has no place for it. */
const INVALID_FIELD = {
  'Invalid-Field': {
    type: 'string',
    description:
      'If one field is wrong, its path: names and places of the body, separated by slashes, or the name of a parameter ' +
      'or header. What is not visible ASCII is percent-encoded, and so is `%`',
  },
};

/** The headers that some errors always have. */
const HEADERS: Partial<Record<ErrorStatus, object>> = {
  401: { 'WWW-Authenticate': { type: 'string', description: 'Always `Bearer`' } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** A route that needs a key limits the requests of the key. */
const WITH_KEY: readonly ErrorStatus[] = [429];

/**
 * The answers of a route: its own, and the errors in JSON that it can return besides those of every route.
 */
export function answers<T extends Record<number, TSchema>>(own: T, ...errors: ErrorStatus[]): T {
  const limits = errors.includes(401) ? WITH_KEY : [];
  return { ...own, ...describeErrors([...errors, ...limits], jsonError) } as T;
}

/** The answers of a route whose errors are plain text. */
export function answersInText<T extends Record<number, object>>(own: T, ...errors: ErrorStatus[]): T {
  return { ...own, ...describeErrors(errors, textError) } as T;
}

function describeErrors(statuses: readonly ErrorStatus[], render: (status: ErrorStatus) => object) {
  return Object.fromEntries([...ALWAYS, ...statuses].map((status) => [status, render(status)]));
}

function jsonError(status: ErrorStatus): TSchema {
  const fields = {
    error: Type.String({ description: 'What went wrong' }),
    code: Type.Optional(Type.String({ description: 'A constant for programs, where there is one' })),
  };
  const headers = status === 400 ? INVALID_FIELD : HEADERS[status];
  return Type.Object(fields, { description: CAUSES[status], headers });
}

function textError(status: ErrorStatus): object {
  return {
    description: CAUSES[status],
    headers: HEADERS[status],
    content: { 'text/plain': { schema: Type.String({ description: 'One line: what went wrong' }) } },
  };
}
