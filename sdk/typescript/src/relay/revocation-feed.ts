/**
 * Follows the revocations of the tenants' tokens, and whether the tenants are admitted: one stream for each tenant, or,
 * where an older service or a proxy does not offer it, a continuous long poll.
 *
 * A snapshot is accepted only if the service signed it for this tenant, and never if it is
 * older than the current one. Without a fresh snapshot, `createTokenVerifier` refuses
 * newcomers and renewals; running sessions continue.
 */
import { readEvents } from './event-stream.ts';
import type { Revocations } from './revocations.ts';
import { fetchedKeys, fixedKeys, type Jwks } from './signing-keys.ts';
import { Backoff } from './usage/backoff.ts';
import { type Clock, pause, systemClock } from './usage/clock.ts';
import { UsageError } from './usage/errors.ts';
import { type KeySource, readKey } from './usage/key.ts';
import { parseRetryAfter } from './usage/post-usage.ts';
import { verifyRevocations } from './verify-revocations.ts';

/** The service says something every 25 seconds, even without news. */
const ANSWER_MS_MAX = 40_000;
/** A stream begins at once. A proxy that collects the whole answer first would never let it through. */
const FIRST_EVENT_MS_MAX = 10_000;
/** How long there are polls after a stream was not offered, or refused. */
const POLLS_MS = 300_000;
/** Snapshots last a minute, so there is time for several attempts. */
const RETRY_MS_MAX = 5_000;
/** A longer `Retry-After` is cut to this: without snapshots no participant is admitted. */
const RETRY_AFTER_MS_MAX = 30_000;
/** After an immediate answer without news, or the end of a stream: all relays may come back at once. */
const NOTHING_NEW_MS = 1_000;
const SNAPSHOT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Which tenants to follow, and the keys: `jwksUrl`, or `jwks` for keys that never change. */
export type RevocationFeedOptions = {
  /** Base URL of the service. */
  readonly url: string;
  /** Ids of the tenants to follow. */
  readonly tenants: Iterable<string>;
  /** `iss` of the snapshots, as of tokens. */
  readonly issuer: string;
  /** `aud` of the snapshots, as of tokens. */
  readonly audience: string;
  /**
   * A relay key of the tenant, with which the stream also tells whether the tenant is admitted. It is read for each
   * stream. Without it, or if it does not work, revocations are followed all the same.
   */
  readonly relayKey?: (tenant: string) => KeySource | undefined;
  /** The revocations changed: check the running sessions of the tenant. */
  readonly onChange?: (tenant: string, revocations: Revocations) => void;
  /** The budgets that are spent changed: end the running sessions for which `budgetReached` is true. */
  readonly onBudgets?: (tenant: string) => void;
  /** An attempt failed. It will be retried. */
  readonly onError?: (error: RevocationsError) => void;
  /** For tests: time. */
  readonly clock?: Clock;
  /** For tests: randomness. */
  readonly random?: () => number;
  /** For tests: the network. */
  readonly fetch?: typeof fetch;
} & (
  | {
      /** Address of the service's keys, which are fetched and kept: `/.well-known/jwks.json`. */
      readonly jwksUrl: string | URL;
      /** Not together with `jwksUrl`. */
      readonly jwks?: never;
    }
  | {
      /** The keys themselves; nothing is fetched. */
      readonly jwks: Jwks;
      /** Not together with `jwks`. */
      readonly jwksUrl?: never;
    }
);

/** The current revocations, kept up to date until `close()`. */
export interface RevocationFeed {
  /** The newest snapshot; pass it to `createTokenVerifier` as `revocations`. Does not use `this`. */
  readonly get: (tenant: string) => Revocations | undefined;
  /**
   * Whether the tenant is admitted, as of now; undefined while no stream with a relay key tells it: then that of the
   * usage reporter counts. Does not use `this`.
   */
  readonly admitted: (tenant: string) => boolean | undefined;
  /**
   * Whether one of these budgets, those of a token, is spent, as far as a stream with a relay key has told. Does not use `this`.
   */
  readonly budgetReached: (tenant: string, budgets: readonly string[]) => boolean;
  /** Stop following. Resolves when no request is in progress. */
  close(): Promise<void>;
}

/**
 * `NO_ANSWER`: there was none, or not in time. `BAD_ANSWER`: it was not 200, or far too long. `NOT_VALID`:
 * not signed by the service, not for this tenant, or not current. `OLDER`: older than the current snapshot.
 */
export type RevocationsErrorCode = 'NO_ANSWER' | 'BAD_ANSWER' | 'NOT_VALID' | 'OLDER';

/** An attempt to get newer revocations failed. For `onError`; no action is needed. */
export class RevocationsError extends Error {
  override readonly name = 'RevocationsError';
  /** Why. */
  readonly code: RevocationsErrorCode;
  /** The tenant whose revocations were asked for. */
  readonly tenant: string;
  /** HTTP status of a `BAD_ANSWER`. */
  readonly status: number | undefined;
  /** The wait that the service asks for; 0 if it does not. */
  readonly retryAfterMs: number;

  constructor(
    code: RevocationsErrorCode,
    tenant: string,
    options: ErrorOptions & {
      /** HTTP status. */
      status?: number;
      /** What the service asks for. */
      retryAfterMs?: number;
    } = {},
  ) {
    super(`no newer revocations of ${tenant}: ${code}`, options);
    this.code = code;
    this.tenant = tenant;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

/** One request, and what it is for. */
interface Attempt {
  readonly tenant: string;
  readonly wantsStream: boolean;
  /** Called when the first event came. */
  readonly begun: () => void;
  /** Called when there is no stream to be had for a while. */
  readonly notOffered: () => void;
}

/**
 * Follow the revocations of tenants from now on, with one request open for each. It never throws: failures
 * go to `onError`, and are retried within 5 seconds, or after `Retry-After`, up to 30.
 */
export function followRevocations(options: RevocationFeedOptions): RevocationFeed {
  const { clock = systemClock, random = Math.random, fetch: fetchUrl = fetch } = options;
  const keys = options.jwks
    ? fixedKeys(options.jwks)
    : fetchedKeys(options.jwksUrl, { fetch: fetchUrl, clock });
  const snapshots = new Map<string, Revocations>();
  const admitted = new Map<string, boolean>();
  const reached = new Map<string, ReadonlySet<unknown>>();
  const stop = new AbortController();

  async function follow(tenant: string): Promise<void> {
    const backoff = new Backoff(random, RETRY_MS_MAX);
    const begun = () => backoff.reset();
    let streamsFrom = clock.now();
    const notOffered = () => {
      streamsFrom = clock.now() + POLLS_MS;
    };
    while (!stop.signal.aborted) {
      const askedAt = clock.now();
      const wantsStream = askedAt >= streamsFrom;
      try {
        const isNew = await ask({ tenant, wantsStream, begun, notOffered });
        backoff.reset();
        const isHasty = !isNew && clock.now() - askedAt < NOTHING_NEW_MS;
        const hasEnded = wantsStream && clock.now() >= streamsFrom;
        if (isHasty || hasEnded) await pause(clock, NOTHING_NEW_MS * random(), stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof RevocationsError)) throw error;
        tell(() => options.onError?.(error));
        const atLeastMs = Math.min(error.retryAfterMs, RETRY_AFTER_MS_MAX);
        await pause(clock, backoff.next(atLeastMs), stop.signal);
      }
    }
  }

  /** Whether it brought news. */
  async function ask(attempt: Attempt): Promise<boolean> {
    const { tenant, wantsStream, notOffered } = attempt;
    const deadline = new Deadline(clock, stop.signal);
    let hasBegun = !wantsStream;
    const begun = () => {
      hasBegun = true;
      attempt.begun();
    };
    try {
      deadline.extend(wantsStream ? FIRST_EVENT_MS_MAX : ANSWER_MS_MAX);
      const answer = await request(tenant, wantsStream, deadline.signal);
      const isStream = wantsStream && /^text\/event-stream\b/.test(answer.headers.get('content-type') ?? '');
      if (wantsStream && !isStream && answer.status < 500) notOffered();
      if (isStream && answer.ok) return await readStream(answer, tenant, deadline, begun);
      const text = await readText(answer);
      if (answer.status === 200 && text !== undefined) return await accept(tenant, text);
      const retryAfterMs = parseRetryAfter(answer.headers.get('retry-after'), clock);
      throw new RevocationsError('BAD_ANSWER', tenant, { status: answer.status, retryAfterMs });
    } catch (cause) {
      if ((deadline.hasPassed && !hasBegun) || cause instanceof UsageError) notOffered();
      throw cause instanceof RevocationsError ? cause : new RevocationsError('NO_ANSWER', tenant, { cause });
    } finally {
      admitted.delete(tenant);
      reached.delete(tenant);
      deadline.end();
    }
  }

  async function request(tenant: string, wantsStream: boolean, signal: AbortSignal): Promise<Response> {
    const url = `${options.url}/v1/revocations/${encodeURIComponent(tenant)}`;
    if (wantsStream) {
      const source = options.relayKey?.(tenant);
      const authorization = source && `Bearer ${await readKey(source, clock, signal)}`;
      const headers = { accept: 'text/event-stream', ...(authorization && { authorization }) };
      return await fetchUrl(url, { headers, redirect: 'error', signal });
    }
    const known = snapshots.get(tenant);
    return await fetchUrl(known ? `${url}?after=${known.seq}` : url, { redirect: 'error', signal });
  }

  /** Until the stream ends. */
  async function readStream(
    answer: Response,
    tenant: string,
    deadline: Deadline,
    begun: () => void,
  ): Promise<boolean> {
    let isNew = false;
    for await (const { event, data } of readEvents(answer.body ?? [], SNAPSHOT_CHARACTERS_MAX)) {
      deadline.extend(ANSWER_MS_MAX);
      begun();
      if (event === 'revocations') isNew = (await accept(tenant, data)) || isNew;
      if (event === 'admitted') readAdmitted(tenant, data);
    }
    return isNew;
  }

  function readAdmitted(tenant: string, data: string): void {
    const told = JSON.parse(data) as { admitted?: unknown; reached_budgets?: unknown } | null;
    if (typeof told?.admitted === 'boolean') admitted.set(tenant, told.admitted);
    const budgets = Array.isArray(told?.reached_budgets) ? told.reached_budgets : [];
    const before = reached.get(tenant)?.size ?? 0;
    reached.set(tenant, new Set(budgets));
    if (budgets.length + before > 0) tell(() => options.onBudgets?.(tenant));
  }

  /** Whether it differs from the previous one. */
  async function accept(tenant: string, jws: string): Promise<boolean> {
    const expected = { ...options, tenant, keys, nowMs: clock.wallNow() };
    const snapshot = await verifyRevocations(jws, expected).catch((cause: unknown) => {
      throw new RevocationsError('NOT_VALID', tenant, { cause });
    });
    return keep(tenant, snapshot);
  }

  /** Whether it differs from the previous one. */
  function keep(tenant: string, snapshot: Revocations): boolean {
    const known = snapshots.get(tenant);
    // An expired snapshot was signed before this one, so a smaller number means that numbering restarted.
    const isKnownFresh = known !== undefined && clock.wallNow() < known.exp * 1000;
    if (isKnownFresh && snapshot.seq < known.seq) throw new RevocationsError('OLDER', tenant);
    if (snapshot.seq === known?.seq && snapshot.exp <= known.exp) return false;

    snapshots.set(tenant, snapshot);
    if (snapshot.seq === known?.seq) return false;
    tell(() => options.onChange?.(tenant, snapshot));
    return true;
  }

  const following = Promise.all([...new Set(options.tenants)].map(follow));
  return {
    get: (tenant) => snapshots.get(tenant),
    admitted: (tenant) => admitted.get(tenant),
    budgetReached: (tenant, budgets) => budgets.some((each) => reached.get(tenant)?.has(each) ?? false),
    async close() {
      stop.abort();
      await following;
    },
  };
}

/** Ends a request that takes too long. */
class Deadline {
  readonly #clock: Clock;
  readonly #stop: AbortSignal;
  readonly #ending = new AbortController();
  readonly #abort = () => this.#ending.abort();
  #cancel = () => {};
  hasPassed = false;

  constructor(clock: Clock, stop: AbortSignal) {
    this.#clock = clock;
    this.#stop = stop;
    stop.addEventListener('abort', this.#abort);
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  extend(ms: number): void {
    this.#cancel();
    this.#cancel = this.#clock.after(ms, () => {
      this.hasPassed = true;
      this.#abort();
    });
  }

  /** Ends the request too, if it is still running. */
  end(): void {
    this.#cancel();
    this.#stop.removeEventListener('abort', this.#abort);
    this.#abort();
  }
}

/** Undefined if it is too long for a snapshot. */
async function readText(answer: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > SNAPSHOT_CHARACTERS_MAX) return undefined;
  }
  return text;
}

/** Errors of a listener become uncaught errors, so that they do not interrupt the feed. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
