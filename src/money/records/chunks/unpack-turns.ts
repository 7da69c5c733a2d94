/**
 * Turns at unpacking chunks. It takes milliseconds of the thread that answers all requests, so this process unpacks one chunk at a time,
 * those of tenants that paid first, but every fourth of one that never did. After one of a tenant that never paid, the next of such a tenant waits twice as long as it took: anyone
 * can sign up a thousand of them. Work whose turn does not come within WAIT_MS_MAX fails: its request is answered by then.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../base/failure.ts';

const REST_FACTOR = 2;
/** So many of tenants that paid go before one of those that never did, if any waits. */
const PAID_IN_A_ROW = 3;
const WAIT_MS_MAX = 10_000;
const RETRY_AFTER_SECONDS = 2;

interface Waiting {
  readonly hasPaid: boolean;
  readonly begin: () => void;
}

export class UnpackTurns {
  /** In order of arrival. */
  readonly #waiting: Waiting[] = [];
  #isBusy = false;
  #paidInARow = 0;
  /** After a chunk of a tenant that never paid. */
  #isResting = false;

  async take<T>(hasPaid: boolean, work: () => Promise<T>): Promise<T> {
    await this.#begin(hasPaid);
    const begun = performance.now();
    try {
      return await work();
    } finally {
      this.#isBusy = false;
      if (!hasPaid) void this.#rest((performance.now() - begun) * REST_FACTOR);
      this.#next();
    }
  }

  #begin(hasPaid: boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      this.#splice(this.#waiting.indexOf(waiting));
      reject(new Failure('overloaded', { retryAfter: RETRY_AFTER_SECONDS }));
    }, WAIT_MS_MAX);
    const begin = () => {
      clearTimeout(timer);
      resolve();
    };
    const waiting = { hasPaid, begin };
    this.#waiting.push(waiting);
    this.#next();
    return promise;
  }

  #next(): void {
    if (this.#isBusy) return;
    const paid = this.#waiting.findIndex(({ hasPaid }) => hasPaid);
    const free = this.#isResting ? -1 : this.#waiting.findIndex(({ hasPaid }) => !hasPaid);
    const isTurnOfFree = free >= 0 && (paid < 0 || this.#paidInARow >= PAID_IN_A_ROW);
    const [next] = this.#splice(isTurnOfFree ? free : paid);
    if (!next) return;
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
