/**
 * Wakes readers that wait for a tenant's events, in this process and in the others.
 *
 * The database holds the events. A notification carries only the newest event number; a query every
 * second makes up for lost notifications.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { directConfig, type Pool } from '../base/db/pool.ts';
import { type Repeating, repeat } from '../base/lib/repeat.ts';
import { renderTenantId, type TenantId } from '../base/tenants/tenant.ts';
import { EVENT_CHANNEL, findLastSeqs, notifyEvents } from './events.sql.ts';
import { type Listening, listen } from './listen.ts';
import { numberEventsSoon } from './number-events.ts';

/** Minimum pause between two notifications of this process. */
const NOTIFY_PAUSE_MS = 20;
const POLL_SECONDS = 1;

interface Waiter {
  readonly after: bigint;
  readonly wake: () => void;
}

/** What this process knows of a tenant's log: the newest event number and the waiters. */
interface Known {
  last: bigint;
  readonly waiters: Set<Waiter>;
  /**
   * No waiter at the last poll. Kept for one more poll, so that a reader between two waits misses no event.
   */
  isIdle: boolean;
}

export class EventWaker {
  readonly #db: Pool;
  readonly #log: Logger;
  readonly #woken = new Set<TenantId>();
  readonly #known = new Map<TenantId, Known>();
  #notifying: Promise<void> | undefined;
  #listening: Listening | undefined;
  #polls: Repeating | undefined;
  #isClosed = false;
  #onNumbered: (tenants: readonly TenantId[]) => void = () => {};

  constructor(db: Pool, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Call `work` whenever this process has numbered events, with the tenants whose events these are. */
  onNumbered(work: (tenants: readonly TenantId[]) => void): void {
    this.#onNumbered = work;
  }

  /** Call after committing events of this tenant. A lost wake-up delays readers by a second at most. */
  wake(tenant: TenantId): void {
    if (this.#isClosed) return;
    this.#woken.add(tenant);
    this.#notifying ??= this.#notify();
  }

  /**
   * Resolves when the tenant has an event after `after`, when `timeoutMs` has passed, or when `signal` is
   * aborted. Returns the newest known event number.
   */
  wait(tenant: TenantId, after: bigint, signal: AbortSignal, timeoutMs: number): Promise<bigint> {
    if (this.#isClosed) return Promise.resolve(after);
    const known = this.#follow(tenant);
    if (known.last > after || signal.aborted) return Promise.resolve(known.last);
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        known.waiters.delete(waiter);
        resolve(known.last);
      };
      const waiter = { after, wake: end };
      const timer = setTimeout(end, timeoutMs);
      signal.addEventListener('abort', end);
      known.waiters.add(waiter);
    });
  }

  /** Wake all waiters. Later calls of `wait` return at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { waiters } of this.#known.values()) for (const { wake } of waiters) wake();
    this.#known.clear();
    await Promise.all([this.#notifying, this.#listening?.close(), this.#polls?.stop()]);
  }

  async #notify(): Promise<void> {
    while (this.#woken.size > 0) {
      const tenants = [...this.#woken];
      this.#woken.clear();
      // After an error, waiters are woken by the next poll.
      await this.#numberAndNotify(tenants).catch(() => {});
      await sleep(NOTIFY_PAUSE_MS);
    }
    this.#notifying = undefined;
  }

  async #numberAndNotify(tenants: readonly TenantId[]): Promise<void> {
    await this.#number(tenants);
    this.#onNumbered(tenants);
    await notifyEvents(this.#db, tenants);
  }

  #number(tenants: readonly TenantId[]): Promise<void> {
    return numberEventsSoon(this.#db, tenants, (error, tenant) =>
      this.#log.warn({ err: error, tenant: renderTenantId(tenant) }, 'events could not be numbered'),
    );
  }

  #follow(tenant: TenantId): Known {
    let known = this.#known.get(tenant);
    if (!known) {
      known = { last: 0n, waiters: new Set(), isIdle: false };
      this.#known.set(tenant, known);
      this.#listening ??= listen(directConfig(this.#db), EVENT_CHANNEL, {
        ready: () => this.#polls?.wake(),
        message: (payload) => this.#receive(payload),
        failed: (error) =>
          this.#log.warn({ err: error }, 'events are not listened for: readers poll meanwhile'),
      });
      this.#polls ??= repeat(
        POLL_SECONDS,
        () => this.#poll(),
        () => {},
      );
      // This process ignored earlier notifications about this tenant.
      this.#polls.wake();
    }
    known.isIdle = false;
    return known;
  }

  #receive(payload: string): void {
    // Any database user can send any payload.
    for (const [, tenant, last] of payload.matchAll(/(-?\d+) (\d+)/g)) {
      this.#advance(BigInt(tenant!) as TenantId, BigInt(last!));
    }
  }

  #advance(tenant: TenantId, last: bigint): void {
    const known = this.#known.get(tenant);
    if (!known || last <= known.last) return;
    known.last = last;
    for (const { after, wake } of known.waiters) if (after < last) wake();
  }

  async #poll(): Promise<void> {
    this.#forgetIdle();
    if (this.#known.size === 0) return;
    const before = new Map([...this.#known].map(([tenant, { last }]) => [tenant, last]));
    const tenants = [...before.keys()];
    await this.#number(tenants);
    const positions = await findLastSeqs(this.#db, tenants);
    const seqs = new Map(positions.map(({ tenant, lastSeq }) => [tenant, lastSeq]));
    for (const [tenant, last] of before) {
      const lastSeq = seqs.get(tenant) ?? 0n;
      const known = this.#known.get(tenant);
      // The event does not exist: the database was restored, or a notification was wrong.
      if (known && lastSeq < last) known.last = lastSeq;
      else this.#advance(tenant, lastSeq);
    }
  }

  #forgetIdle(): void {
    for (const [tenant, known] of this.#known) {
      if (known.waiters.size > 0) continue;
      if (known.isIdle) this.#known.delete(tenant);
      known.isIdle = true;
    }
    if (this.#known.size > 0) return;
    this.#polls?.stop();
    this.#polls = undefined;
    this.#listening?.close();
    this.#listening = undefined;
  }
}
