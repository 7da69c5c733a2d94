/**
 * Wakes whoever waits for a tenant's events, in this process and in the others.
 *
 * The events stand in the database; a notification only says how far they have come, and so does a
 * query every second, for those that were lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Pool } from '../base/db/pool.ts';
import { type Repeating, repeat } from '../base/lib/repeat.ts';
import { renderTenantId, type TenantId } from '../base/tenants/tenant.ts';
import { EVENT_CHANNEL, findLastSeqs, notifyEvents } from './events.sql.ts';
import { type Listening, listen } from './listen.ts';
import { numberEventsSoon } from './number-events.ts';

/** Between two notifications of this process, however much happens. */
const NOTIFY_PAUSE_MS = 20;
const POLL_SECONDS = 1;

interface Waiter {
  readonly after: bigint;
  readonly wake: () => void;
}

/** How far the events of a tenant have come, as far as this process has heard. */
interface Known {
  last: bigint;
  readonly waiters: Set<Waiter>;
  /** Nobody waited at the last poll. Whoever waits again right after an event must not miss the next. */
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
  #onNumbered = () => {};

  constructor(db: Pool, log: Logger) {
    this.#db = db;
    this.#log = log;
  }

  /** Call `work` whenever events have got their numbers in this process. */
  onNumbered(work: () => void): void {
    this.#onNumbered = work;
  }

  /** Events of this tenant were committed. Losing a wake-up delays what reads them, by a second at most. */
  wake(tenant: TenantId): void {
    if (this.#isClosed) return;
    this.#woken.add(tenant);
    this.#notifying ??= this.#notify();
  }

  /**
   * Resolves as soon as the events of the tenant have come further than `after`, after `timeoutMs`, or
   * once `signal` is aborted. Returns the number of the newest event that was heard of.
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

  /** Whoever waits is woken; whoever comes later does not wait. */
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
      // What is lost here costs those who wait a second.
      await this.#tell(tenants).catch(() => {});
      await sleep(NOTIFY_PAUSE_MS);
    }
    this.#notifying = undefined;
  }

  async #tell(tenants: readonly TenantId[]): Promise<void> {
    await this.#number(tenants);
    this.#onNumbered();
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
      this.#listening ??= listen(this.#db.options, EVENT_CHANNEL, {
        ready: () => this.#polls?.wake(),
        message: (payload) => this.#hear(payload),
      });
      this.#polls ??= repeat(
        POLL_SECONDS,
        () => this.#poll(),
        () => {},
      );
      // Until now nobody here listened to what happens to this tenant.
      this.#polls.wake();
    }
    known.isIdle = false;
    return known;
  }

  #hear(payload: string): void {
    // Whoever may use the database may notify, and of anything.
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
      // Heard of, and not there: the database was restored, or somebody notified what never was.
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
