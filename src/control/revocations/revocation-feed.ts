/**
 * Tells relays what has been taken back of a tenant's tokens, as soon as it has been.
 *
 * However many relays wait in this process, one reading of a tenant serves them all, and one query
 * looks after all the tenants that anybody waits for. A wake-up that is lost costs a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Failure } from '../../base/failure.ts';
import { type Repeating, repeat } from '../../base/lib/repeat.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { EventWaker } from '../../events/event-waker.ts';
import { PollLimit } from './poll-limit.ts';
import { findRevocationSeqs } from './revocations.sql.ts';
import { type Publisher, type Snapshot, signRevocations } from './sign-revocations.ts';

/** How long a poll waits for something new. */
export const POLL_SECONDS = 25;
/** A snapshot is signed anew when somebody asks for one that is older, so that it lasts a good while. */
const FRESH_MS = 5_000;
const CHECK_SECONDS = 1;
/** Between two queries, however often we are woken. */
const CHECK_PAUSE_MS = 20;
/** Of the time of this process, reading one tenant may take a fifth, and delay it by a second. */
const READ_PAUSE_FACTOR = 4;
const READ_PAUSE_MS_MAX = 1_000;

export interface Poll {
  readonly tenant: TenantId;
  /** The snapshot that the relay has; `undefined`: none. */
  readonly after: bigint | undefined;
  /** The relay's address, for the limits. */
  readonly address: string;
  /** Given when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

interface Waiter {
  readonly after: bigint;
  readonly wake: () => void;
}

/** What this process knows of one tenant. */
interface Channel {
  readonly tenant: TenantId;
  readonly waiters: Set<Waiter>;
  snapshot: Snapshot | undefined;
  /** By the monotonic clock, as all times here; before the first reading, since when it is wanted. */
  readAt: number;
  /** Something happened that the last reading, or the one under way, may not have seen. */
  isOutdated: boolean;
  reading: Promise<void> | undefined;
  pausedUntil: number;
  isListening: boolean;
}

export class RevocationFeed {
  readonly #publisher: Publisher;
  readonly #events: EventWaker;
  readonly #log: Logger;
  readonly #limit = new PollLimit();
  readonly #channels = new Map<TenantId, Channel>();
  readonly #woken = new Set<TenantId>();
  #checks: Repeating | undefined;
  #checkedAllAt = Number.NEGATIVE_INFINITY;
  readonly #closing = new AbortController();

  constructor(publisher: Publisher, events: EventWaker, log: Logger) {
    this.#publisher = publisher;
    this.#events = events;
    this.#log = log;
  }

  /**
   * The newest snapshot, as a signed JWS: at once where it is newer than `after`, and else as soon as
   * something is, or after `POLL_SECONDS`.
   *
   * Fails with `not_found` and `too_many_streams`.
   */
  async poll({ tenant, after, address, signal }: Poll): Promise<string> {
    const leave = this.#limit.enter(address);
    try {
      const channel = this.#open(tenant);
      const snapshot = await this.#current(channel);
      if (after === undefined || after < snapshot.seq) return snapshot.jws;
      await this.#change(channel, after, signal);
      return (await this.#current(channel)).jws;
    } finally {
      leave();
    }
  }

  /** Whoever waits is answered with what is known; whoever comes later does not wait. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { waiters } of this.#channels.values()) for (const { wake } of waiters) wake();
    await this.#checks?.stop();
  }

  #open(tenant: TenantId): Channel {
    const known = this.#channels.get(tenant);
    if (known) return known;
    const channel: Channel = {
      tenant,
      waiters: new Set(),
      snapshot: undefined,
      readAt: performance.now(),
      isOutdated: false,
      reading: undefined,
      pausedUntil: Number.NEGATIVE_INFINITY,
      isListening: false,
    };
    this.#channels.set(tenant, channel);
    if (!this.#closing.signal.aborted) this.#checks ??= this.#startChecks();
    return channel;
  }

  async #current(channel: Channel): Promise<Snapshot> {
    const isFresh = channel.snapshot && performance.now() - channel.readAt < FRESH_MS;
    if (!isFresh || channel.isOutdated) await this.#refresh(channel);
    if (!channel.snapshot) {
      this.#channels.delete(channel.tenant);
      throw new Failure('not_found');
    }
    return channel.snapshot;
  }

  /**
   * Read once for everybody who asks, and once more where that reading had begun too early. What happens
   * during the second one is for whoever asks next: else nobody would be answered while much happens.
   */
  async #refresh(channel: Channel): Promise<void> {
    if (channel.reading) {
      await channel.reading;
      if (!channel.isOutdated) return;
    }
    channel.reading ??= this.#read(channel).finally(() => {
      channel.reading = undefined;
    });
    await channel.reading;
  }

  async #read(channel: Channel): Promise<void> {
    const pauseMs = channel.pausedUntil - performance.now();
    if (pauseMs > 0) await sleep(pauseMs);
    const begunAt = performance.now();
    channel.isOutdated = false;
    try {
      channel.snapshot = await signRevocations(this.#publisher, channel.tenant);
      channel.readAt = performance.now();
    } finally {
      const tookMs = performance.now() - begunAt;
      channel.pausedUntil = performance.now() + Math.min(READ_PAUSE_MS_MAX, tookMs * READ_PAUSE_FACTOR);
    }
    for (const { after, wake } of channel.waiters) if (after < (channel.snapshot?.seq ?? 0n)) wake();
  }

  /** Resolves once there is something newer, it has taken too long, or nobody cares any more. */
  #change(channel: Channel, after: bigint, signal: AbortSignal): Promise<void> {
    if (this.#closing.signal.aborted || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        channel.waiters.delete(waiter);
        resolve();
      };
      const waiter = { after, wake: end };
      const timer = setTimeout(end, POLL_SECONDS * 1000);
      signal.addEventListener('abort', end);
      channel.waiters.add(waiter);
      // While nobody waited nobody looked.
      if (channel.waiters.size === 1) this.#check(channel.tenant);
      if (!channel.isListening) void this.#listen(channel);
    });
  }

  /** While anybody waits, whatever happens to the tenant may be what they wait for. */
  async #listen(channel: Channel): Promise<void> {
    const { tenant, waiters } = channel;
    channel.isListening = true;
    let heard = 0n;
    while (waiters.size > 0) {
      heard = await this.#events.wait(tenant, heard, this.#closing.signal, POLL_SECONDS * 1000);
      if (waiters.size > 0) this.#check(tenant);
    }
    channel.isListening = false;
  }

  /** Look at this tenant now. */
  #check(tenant: TenantId): void {
    this.#woken.add(tenant);
    this.#checks?.wake();
  }

  #startChecks(): Repeating {
    return repeat(
      CHECK_SECONDS,
      () => this.#checkChannels(),
      (error) => this.#log.warn({ err: error }, 'what is new to relays could not be looked up'),
    );
  }

  /** One query for those that were woken, and every second for all that somebody waits for. */
  async #checkChannels(): Promise<void> {
    const isDue = performance.now() - this.#checkedAllAt >= CHECK_SECONDS * 1000 - CHECK_PAUSE_MS;
    if (isDue) {
      this.#checkedAllAt = performance.now();
      this.#forgetIdle();
      for (const { tenant, waiters } of this.#channels.values())
        if (waiters.size > 0) this.#woken.add(tenant);
    }
    const tenants = [...this.#woken];
    this.#woken.clear();
    if (tenants.length === 0) return;

    const seqs = await findRevocationSeqs(this.#publisher.db, tenants);
    for (const tenant of tenants) {
      const channel = this.#channels.get(tenant);
      if (!channel?.snapshot || (seqs.get(tenant) ?? 0n) === channel.snapshot.seq) continue;
      channel.isOutdated = true;
      this.#refresh(channel).catch((error) =>
        this.#log.warn({ err: error, tenant: renderTenantId(tenant) }, 'revocations could not be read'),
      );
    }
    await sleep(CHECK_PAUSE_MS);
  }

  #forgetIdle(): void {
    for (const { tenant, waiters, reading, readAt } of this.#channels.values()) {
      const isIdle = waiters.size === 0 && !reading && performance.now() - readAt >= FRESH_MS;
      if (isIdle) this.#channels.delete(tenant);
    }
    if (this.#channels.size > 0) return;
    this.#checks?.stop();
    this.#checks = undefined;
  }
}
