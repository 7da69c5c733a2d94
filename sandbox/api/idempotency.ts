/**
 * The idempotency store: a POST with a key that was used before gets the first answer again.
 *
 * Source: docs.stripe.com/api/idempotent_requests. Stored: every answer of an operation that had
 * started, including 500. Not stored: answers to invalid parameters, and
 * conflicts.
 */
import { createHash } from 'node:crypto';
import { ApiError, invalidRequest } from '../http/errors.ts';
import type { FormObject } from '../http/form.ts';
import type { Reply } from '../http/request.ts';
import { now, type Provider } from '../provider.ts';

const KEY_LENGTH_MAX = 255;

/** Stripe may delete a key after this long, and so does the sandbox. */
export const KEPT_SECONDS = 24 * 3600;

export function fingerprintOf(method: string, path: string, form: FormObject): string {
  return createHash('sha256')
    .update(JSON.stringify([method, path, sorted(form)]))
    .digest('hex');
}

export function checkKey(key: string): void {
  if (key.length > KEY_LENGTH_MAX) {
    throw invalidRequest(`Idempotency keys can have up to ${KEY_LENGTH_MAX} characters.`);
  }
}

/** The first answer to this key, marked as a replay. Throws if the parameters differ. */
export function findReply(provider: Provider, key: string, fingerprint: string): Reply | undefined {
  const stored = provider.state.get('storedReplies', key);
  if (stored === undefined || stored.created + KEPT_SECONDS <= now(provider)) return undefined;
  if (stored.fingerprint !== fingerprint) {
    throw new ApiError(
      400,
      'idempotency_error',
      'Keys for idempotent requests can only be used with the same parameters they were first used with. ' +
        'Use another key if you meant to make a different request.',
      {},
      'validation',
    );
  }
  return { ...stored.reply, headers: { ...stored.reply.headers, 'idempotent-replayed': 'true' } };
}

export function storeReply(provider: Provider, key: string, fingerprint: string, reply: Reply): void {
  provider.state.put('storedReplies', { id: key, created: now(provider), fingerprint, reply });
}

export function keyInUse(): ApiError {
  return new ApiError(
    409,
    'idempotency_error',
    'There is currently another in-progress request using this Idempotency-Key. Please try again later.',
    { code: 'idempotency_key_in_use' },
    'validation',
  );
}

/** The order of parameters does not matter. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, item]) => [name, sorted(item)]);
}
