/**
 * Sends relays the revocations of a tenant's tokens as they happen, and whether the tenant is admitted.
 *
 * One read of a tenant serves all its relays in this process, and one query checks many tenants at once. A
 * poll that is answered at once waits for such a check, so the answer has every change from before the poll.
 * A poll or stream that waits learns of changes by wake-ups; a lost one delays a change by at most a second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { KeyLookups } from '../../access/keys/key-lookups.ts';
import { Failure } from '../../base/failure.ts';
import { type Repeating, repeat } from '../../base/lib/repeat.ts';
import { CallQueue } from '../../base/tenants/call-queue.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import { renderTenantId, type TenantId, type TenantStatus } from '../../base/tenants/tenant.ts';
import type { EventWaker } from '../../events/event-waker.ts';
import { type FeedItem, FeedStream } from './feed-stream.ts';
import { FollowerLimit } from './follower-limit.ts';
import type { RevocationMetrics } from './revocation-metrics.ts';
import { findStandings, type Standing } from './revocations.sql.ts';
import { type Publisher, type Snapshot, signRevocations } from './sign-revocations.ts';

/** How long a poll waits for something new. */
export const POLL_SECONDS = 25;
/** The age at which streams get a snapshot again, so that they are never silent for longer than a poll. */
const REPEAT_MS = 20_000;
/** An older snapshot is signed again on request, so that every answer stays valid for a while. */
const FRESH_MS = 5_000;
const CHECK_SECONDS = 1;
/** The minimum pause between two queries. */
const CHECK_PAUSE_MS = 20;
/** Reads of one tenant take at most a fifth of the time, unless the pause reaches its maximum. */
const READ_PAUSE_FACTOR = 4;
const READ_PAUSE_MS_MAX = 1_000;
/** Each read holds a database connection. Anyone may ask for any tenant, so those that paid have places of their own. */
const READS = {
  running: 8,
  runningPerTenant: 1,
  runningNeverPaid: 2,
  waiting: 20_000,
  waitingPerTenant: 1,
  waitingNeverPaid: 10_000,
  waitMs: 10_000,
  isOfProcess: true,
};

export interface Poll {
  readonly tenant: TenantId;
  /** The snapshot that the relay has; `undefined`: none. */
  readonly after: bigint | undefined;
  /** The relay's address, for the limits. */
  readonly address: string;
  /** Aborted when the relay no longer waits for the answer. */
  readonly signal: AbortSignal;
}

export interface Following {
  readonly tenant: TenantId;
  readonly address: string;
  /** The relay, if it has sent its key: then it is also told whether the tenant is admitted. */
  readonly relay: Relay | undefined;
  /** How an item is sent. */
  readonly render: (item: FeedItem) => Buffer;
}

export interface Relay extends LimitedCaller {
  readonly keyId: string;
}

interface Waiter {
  readonly hasNews: () => boolean;
  readonly wake: () => void;
}

export interface FeedDeps extends Publisher {
  readonly keyLookups: KeyLookups;
  /** Client connections of this process, at most. */
  readonly connectionsMax: number;
  readonly metrics: RevocationMetrics;
}

/** The tenants of one query for changes. */
interface Check {
  readonly tenants: Set<TenantId>;
  /** Resolved when the outdated channels are marked. Never rejected. */
  readonly done: PromiseWithResolvers<void>;
}

const newCheck = (): Check => ({ tenants: new Set(), done: Promise.withResolvers() });

/** What this process knows about one tenant. */
interface Channel {
  readonly tenant: TenantId;
  readonly waiters: Set<Waiter>;
  readonly streams: Set<FeedStream>;
  snapshot: Snapshot | undefined;
  /** Resolved after the first check, before which the tenant is not read. */
  checked: Promise<void>;
  /** As of the newest check; `undefined` before the first one. */
  admitted: boolean | undefined;
  /** Hard budgets that are spent, by uid, as of the newest check. */
  reached: readonly string[];
  /** `pending` also while it is not known. */
  status: TenantStatus;
  /**
   * When the read of the snapshot began, by the monotonic clock, like all times here; before the first read,
   * when the channel was opened.
   */
  readAt: number;
  /** A change happened that the last or current read may have missed. */
  isOutdated: boolean;
  reading: Promise<void> | undefined;
  pausedUntil: number;
  isListening: boolean;
}

export class RevocationFeed {
  readonly #deps: FeedDeps;
  readonly #events: EventWaker;
  readonly #log: Logger;
  readonly #limit: FollowerLimit;
  readonly #reads = new CallQueue(READS);
  readonly #channels = new Map<TenantId, Channel>();
  #nextCheck = newCheck();
  #checks: Repeating | undefined;
  #checkedAllAt = Number.NEGATIVE_INFINITY;
  readonly #closing = new AbortController();

  constructor(deps: FeedDeps, events: EventWaker, log: Logger) {
    this.#deps = deps;
    this.#events = events;
    this.#log = log;
    this.#limit = new FollowerLimit(deps.connectionsMax);
  }

  /**
   * The newest snapshot, as a signed JWS: at once if it is newer than `after`, otherwise as soon as one is,
   * or after `POLL_SECONDS`. At once means with every change that was committed before the call.
   *
   * Fails with `not_found` and `too_many_streams`.
   */
  async poll({ tenant, after, address, signal }: Poll): Promise<string> {
    const leave = this.#enter(address);
    try {
      const channel = this.#open(tenant);
      const isUpToDate = after !== undefined && after >= (await this.#current(channel)).seq;
      if (!isUpToDate) return (await this.#newest(channel)).jws;
      await this.#change(channel, () => (channel.snapshot?.seq ?? 0n) > after, signal);
      return (await this.#current(channel)).jws;
    } finally {
      leave();
    }
  }

  /**
   * A stream of the newest snapshot, and each newer one as soon as there is one. A relay with a key is also told whether
   * the tenant is admitted, first and after each change. It ends when the service stops, and when the key no longer
   * works and there is something to tell by it. It counts until it is closed: destroy it when the relay has gone.
   *
   * Fails with `not_found` and `too_many_streams`.
   */
  async follow({ tenant, address, relay, render }: Following): Promise<FeedStream> {
    const leave = this.#enter(address, relay);
    try {
      const channel = this.#open(tenant);
      await Promise.all([this.#newest(channel), relay && this.#check(tenant)]);
      const { keyLookups } = this.#deps;
      const stream = new FeedStream({ known: channel, keyId: relay?.keyId, keyLookups, render });
      stream.once('close', leave);
      this.#addStream(channel, stream);
      return stream;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Answers waiting polls with the current snapshot, and ends streams. Later polls do not wait. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const { waiters, streams } of this.#channels.values()) {
      for (const { wake } of waiters) wake();
      for (const stream of streams) stream.end();
    }
    await this.#checks?.stop();
    // These polls come too late for a check.
    this.#markOutdated(this.#nextCheck.tenants);
    this.#nextCheck.done.resolve();
  }

  #open(tenant: TenantId): Channel {
    const known = this.#channels.get(tenant);
    if (known) return known;
    const channel: Channel = {
      tenant,
      waiters: new Set(),
      streams: new Set(),
      snapshot: undefined,
      checked: Promise.resolve(),
      admitted: undefined,
      reached: [],
      status: 'pending',
      readAt: performance.now(),
      isOutdated: false,
      reading: undefined,
      pausedUntil: Number.NEGATIVE_INFINITY,
      isListening: false,
    };
    this.#channels.set(tenant, channel);
    channel.checked = this.#check(tenant);
    return channel;
  }

  /** A snapshot with every change that was committed before the call. */
  async #newest(channel: Channel): Promise<Snapshot> {
    const askedAt = performance.now();
    const snapshot = await this.#current(channel);
    if (channel.readAt >= askedAt) return snapshot;
    if (this.#closing.signal.aborted) channel.isOutdated = true;
    else await this.#check(channel.tenant);
    return this.#current(channel);
  }

  /** A snapshot with every change that this process knows of. */
  async #current(channel: Channel): Promise<Snapshot> {
    const isFresh = channel.snapshot && performance.now() - channel.readAt < FRESH_MS;
    if (!isFresh || channel.isOutdated || channel.reading) await this.#refresh(channel);
    if (!channel.snapshot) {
      this.#channels.delete(channel.tenant);
      throw new Failure('not_found');
    }
    return channel.snapshot;
  }

  /**
   * Callers share one read, and a second one if the first began too early. Changes during the second read are
   * left to the next caller; otherwise polls of a busy tenant would never be answered.
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
    await channel.checked;
    const pauseMs = channel.pausedUntil - performance.now();
    if (pauseMs > 0) await sleep(pauseMs);
    const { tenant, status: tenantStatus } = channel;
    await this.#reads.run({ tenant, tenantStatus, tenantLimits: null }, () => this.#readNow(channel));
    tell(channel);
  }

  async #readNow(channel: Channel): Promise<void> {
    const begunAt = performance.now();
    channel.isOutdated = false;
    try {
      channel.snapshot = await signRevocations(this.#deps, channel.tenant);
      channel.readAt = begunAt;
    } finally {
      const tookMs = performance.now() - begunAt;
      channel.pausedUntil = performance.now() + Math.min(READ_PAUSE_MS_MAX, tookMs * READ_PAUSE_FACTOR);
    }
  }

  /** Count one poll or stream until the returned function is called. */
  #enter(address: string, relay?: Relay): () => void {
    const leave = this.#limit.enter(address, relay);
    const { revocationFollowers } = this.#deps.metrics;
    const by = { key: relay ? 'relay' : 'none' };
    revocationFollowers.inc(by);
    return () => {
      revocationFollowers.dec(by);
      leave();
    };
  }

  #addStream(channel: Channel, stream: FeedStream): void {
    // It may have been forgotten meanwhile.
    this.#channels.set(channel.tenant, channel);
    channel.streams.add(stream);
    stream.once('close', () => channel.streams.delete(stream));
    if (this.#closing.signal.aborted) stream.end();
    else this.#watch(channel);
  }

  /** Resolves when `hasNews`, on timeout, or when `signal` is aborted. */
  #change(channel: Channel, hasNews: () => boolean, signal: AbortSignal): Promise<void> {
    if (this.#closing.signal.aborted || signal.aborted || hasNews()) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        channel.waiters.delete(waiter);
        resolve();
      };
      const waiter = { hasNews, wake: end };
      const timer = setTimeout(end, POLL_SECONDS * 1000);
      signal.addEventListener('abort', end);
      channel.waiters.add(waiter);
      this.#watch(channel);
    });
  }

  /** The channel is followed. It was not checked while it was not. */
  #watch(channel: Channel): void {
    if (channel.waiters.size + channel.streams.size === 1) void this.#check(channel.tenant);
    if (!channel.isListening) void this.#listen(channel);
  }

  /** While the channel is followed, check the tenant after each of its events. */
  async #listen(channel: Channel): Promise<void> {
    const { tenant } = channel;
    channel.isListening = true;
    let heard = 0n;
    while (isFollowed(channel) && !this.#closing.signal.aborted) {
      heard = await this.#events.wait(tenant, heard, this.#closing.signal, POLL_SECONDS * 1000);
      if (isFollowed(channel)) void this.#check(tenant);
    }
    channel.isListening = false;
  }

  /** Check this tenant soon, by a query that begins after the call. */
  #check(tenant: TenantId): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.resolve();
    const { tenants, done } = this.#nextCheck;
    tenants.add(tenant);
    this.#checks ??= this.#startChecks();
    this.#checks.wake();
    return done.promise;
  }

  #startChecks(): Repeating {
    return repeat(
      CHECK_SECONDS,
      () => this.#checkChannels(),
      (error) => this.#log.warn({ err: error }, 'could not check for new revocations'),
    );
  }

  /** One query for the tenants that need a check, and every second for all tenants that are followed. */
  async #checkChannels(): Promise<void> {
    const isDue = performance.now() - this.#checkedAllAt >= CHECK_SECONDS * 1000 - CHECK_PAUSE_MS;
    if (isDue) {
      this.#checkedAllAt = performance.now();
      this.#forgetIdle();
      for (const channel of this.#channels.values())
        if (isFollowed(channel)) this.#nextCheck.tenants.add(channel.tenant);
    }
    const { tenants, done } = this.#nextCheck;
    if (tenants.size === 0) return;
    this.#nextCheck = newCheck();
    try {
      this.#compare(tenants, await findStandings(this.#deps.db, [...tenants]));
    } catch (error) {
      // They may have changed, so polls read them again.
      this.#markOutdated(tenants);
      throw error;
    } finally {
      done.resolve();
      await sleep(CHECK_PAUSE_MS);
    }
  }

  /** Read the tenants that have changed. */
  #compare(tenants: Iterable<TenantId>, standings: ReadonlyMap<TenantId, Standing>): void {
    for (const tenant of tenants) {
      const channel = this.#channels.get(tenant);
      if (!channel) continue;
      const standing = standings.get(tenant);
      if (standing) {
        const { admitted, reached, status } = standing;
        Object.assign(channel, { admitted, reached, status });
      }
      for (const stream of channel.streams) stream.offer();
      if (!channel.snapshot) continue;
      const isOld = channel.streams.size > 0 && performance.now() - channel.readAt >= REPEAT_MS;
      if (standing?.seq === channel.snapshot.seq && !isOld) continue;
      channel.isOutdated = true;
      this.#refresh(channel).catch((error) =>
        this.#log.warn({ err: error, tenant: renderTenantId(tenant) }, 'could not read revocations'),
      );
    }
  }

  #markOutdated(tenants: Iterable<TenantId>): void {
    for (const tenant of tenants) {
      const channel = this.#channels.get(tenant);
      if (channel) channel.isOutdated = true;
    }
  }

  #forgetIdle(): void {
    for (const channel of this.#channels.values()) {
      const { tenant, reading, readAt } = channel;
      const isIdle = !isFollowed(channel) && !reading && performance.now() - readAt >= FRESH_MS;
      if (isIdle) this.#channels.delete(tenant);
    }
    if (this.#channels.size > 0) return;
    this.#checks?.stop();
    this.#checks = undefined;
  }
}

function isFollowed({ waiters, streams }: Channel): boolean {
  return waiters.size > 0 || streams.size > 0;
}

function tell({ waiters, streams }: Channel): void {
  for (const stream of streams) stream.offer();
  for (const { hasNews, wake } of waiters) if (hasNews()) wake();
}
