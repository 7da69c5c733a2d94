/**
 * Limits the requests with one API key, against a client that repeats itself without end.
 *
 * Counted in the memory of each process: a shared counter would cost a write to the database with every
 * request. With n processes, a key may do up to n times as much.
 */
import { type LimitedCaller, limitOfCaller } from '../../base/tenants/limited-caller.ts';
import { beyondLimit, type TenantLimit } from '../../base/tenants/limits.ts';

export const KEY_REQUESTS_LIMIT = {
  name: 'key_requests_per_minute',
  pending: 12_000,
  active: 60_000,
  unit: 'requests a minute with one API key',
} as const satisfies TenantLimit;

const WINDOW_MS = 60_000;

export class KeyRate {
  readonly #windowMs: number;
  /** Requests of each key in this window. */
  readonly #counts = new Map<string, number>();
  #endsAt = 0;

  constructor(windowMs = WINDOW_MS) {
    this.#windowMs = windowMs;
  }

  /** Count one request. Throws `too_many_requests` beyond the limit of the key's tenant. */
  count(caller: LimitedCaller & { readonly keyId: string }): void {
    const now = performance.now();
    if (now >= this.#endsAt) {
      this.#counts.clear();
      this.#endsAt = now + this.#windowMs;
    }
    const count = (this.#counts.get(caller.keyId) ?? 0) + 1;
    const max = limitOfCaller(caller, KEY_REQUESTS_LIMIT);
    if (count > max) {
      const retryAfter = Math.max(1, Math.ceil((this.#endsAt - now) / 1000));
      throw beyondLimit('too_many_requests', KEY_REQUESTS_LIMIT, max, { retryAfter });
    }
    this.#counts.set(caller.keyId, count);
  }
}
