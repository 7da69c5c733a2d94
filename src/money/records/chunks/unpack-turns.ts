/**
 * Turns at unpacking chunks. It takes milliseconds of the thread that answers all requests, so this process unpacks one chunk at a time,
 * those of tenants that paid first, but every fourth of one that never did, and tenants in turns. After one of a tenant that never paid, the next of such a tenant waits twice as long as it took: anyone
 * can sign up a thousand of them. Work whose turn does not come within WAIT_MS_MAX fails: its request is answered by then.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../base/failure.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';

const REST_FACTOR = 2;
/** So many of tenants that paid go before one of those that never did, if any waits. */
const PAID_IN_A_ROW = 3;
const WAIT_MS_MAX = 10_000;
/** So many are kept before those that count no more are looked for. Work waits for hundreds of tenants at most. */
const STARTS_MAX = 1_000;
const RETRY_AFTER_SECONDS = 2;

/** Whose chunk it is. */
export interface Reader {
  readonly tenant: TenantId;
  readonly hasPaid: boolean;
}

interface Waiting extends Reader {
  /** The lowest of those with its standing is next. */
  readonly start: number;
  readonly begin: () => void;
}

export class UnpackTurns {
  /** In order of arrival. */
  readonly #waiting: Waiting[] = [];
  /** The earliest start of the next work of a tenant, also of one that has none now: or else, it would always be next. */
  readonly #starts = { paid: new Map<TenantId, number>(), neverPaid: new Map<TenantId, number>() };
  /** The latest start of work that began, of tenants that paid and of those that never did. */
  readonly #now = { paid: 0, neverPaid: 0 };
  #isBusy = false;
  #paidInARow = 0;
  /** After a chunk of a tenant that never paid. */
  #isResting = false;

  async take<T>(reader: Reader, work: () => Promise<T>): Promise<T> {
    await this.#begin(reader);
    const begun = performance.now();
    try {
      return await work();
    } finally {
      this.#isBusy = false;
      if (!reader.hasPaid) void this.#rest((performance.now() - begun) * REST_FACTOR);
      this.#next();
    }
  }

  #begin(reader: Reader): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#splice(this.#waiting.indexOf(waiting));
      reject(new Failure('overloaded', { retryAfter: RETRY_AFTER_SECONDS }));
    }, WAIT_MS_MAX);
    const begin = () => {
      clearTimeout(timer);
      resolve();
    };
    const waiting = { ...reader, start: this.#enter(reader), begin };
    this.#waiting.push(waiting);
    this.#next();
    return promise;
  }

  /** Work of a tenant starts behind what the others have begun, and behind its own that waits. */
  #enter({ tenant, hasPaid }: Reader): number {
    const standing = hasPaid ? 'paid' : 'neverPaid';
    const [now, starts] = [this.#now[standing], this.#starts[standing]];
    const start = Math.max(now, starts.get(tenant) ?? 0);
    if (starts.size > STARTS_MAX) for (const [each, next] of starts) if (next <= now) starts.delete(each);
    starts.set(tenant, start + 1);
    return start;
  }

  /** The place in the list of those that wait; -1: none do. */
  #first(ofPaid: boolean): number {
    let first = -1;
    for (const [at, { hasPaid, start }] of this.#waiting.entries())
      if (hasPaid === ofPaid && (first < 0 || start < this.#waiting[first]!.start)) first = at;
    return first;
  }

  #next(): void {
    if (this.#isBusy) return;
    const paid = this.#first(true);
    const free = this.#isResting ? -1 : this.#first(false);
    const isTurnOfFree = free >= 0 && (paid < 0 || this.#paidInARow >= PAID_IN_A_ROW);
    const [next] = this.#splice(isTurnOfFree ? free : paid);
    if (!next) return;
    const standing = next.hasPaid ? 'paid' : 'neverPaid';
    this.#now[standing] = Math.max(this.#now[standing], next.start);
    this.#paidInARow = next.hasPaid ? this.#paidInARow + 1 : 0;
    this.#isBusy = true;
    next.begin();
  }

  #splice(at: number): Waiting[] {
    return at < 0 ? [] : this.#waiting.splice(at, 1);
  }

  async #rest(ms: number): Promise<void> {
    this.#isResting = true;
    await sleep(ms);
    this.#isResting = false;
    this.#next();
  }
}

/** Those of this process. */
export const unpackTurns = new UnpackTurns();
