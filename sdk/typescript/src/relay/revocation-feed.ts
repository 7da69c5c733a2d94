/**
 * Follows the revocations of the tenants' tokens: one continuous long poll for each tenant.
 *
 * A snapshot is accepted only if the service signed it for this tenant, and never if it is
 * older than the current one. Without a fresh snapshot, `createTokenVerifier` refuses
 * newcomers and renewals; running sessions continue.
 */
import type { Revocations } from './revocations.ts';
import { fetchedKeys, fixedKeys, type Jwks } from './signing-keys.ts';
import { Backoff } from './usage/backoff.ts';
import { type Clock, pause, systemClock } from './usage/clock.ts';
import { parseRetryAfter } from './usage/post-usage.ts';
import { verifyRevocations } from './verify-revocations.ts';

/** The service answers within 25 seconds, even without news. */
const ANSWER_MS_MAX = 40_000;
/** Snapshots last a minute, so there is time for several attempts. */
const RETRY_MS_MAX = 5_000;
/** A longer `Retry-After` is cut to this: without snapshots no participant is admitted. */
const RETRY_AFTER_MS_MAX = 30_000;
/** After an immediate answer without news. */
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
  /** The revocations changed: check the running sessions of the tenant. */
  readonly onChange?: (tenant: string, revocations: Revocations) => void;
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
  /** Stop polling. Resolves when no poll is in progress. */
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
  const stop = new AbortController();

  async function follow(tenant: string): Promise<void> {
    const backoff = new Backoff(random, RETRY_MS_MAX);
    while (!stop.signal.aborted) {
      const askedAt = clock.now();
      try {
        const isNew = keep(tenant, await ask(tenant));
        backoff.reset();
        const isHasty = !isNew && clock.now() - askedAt < NOTHING_NEW_MS;
        if (isHasty) await pause(clock, NOTHING_NEW_MS * random(), stop.signal);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof RevocationsError)) throw error;
        tell(() => options.onError?.(error));
        const atLeastMs = Math.min(error.retryAfterMs, RETRY_AFTER_MS_MAX);
        await pause(clock, backoff.next(atLeastMs), stop.signal);
      }
    }
  }

  async function ask(tenant: string): Promise<Revocations> {
    const known = snapshots.get(tenant);
    const url = `${options.url}/v1/revocations/${encodeURIComponent(tenant)}`;
    const jws = await fetchText(known ? `${url}?after=${known.seq}` : url, tenant);
    const expected = { ...options, tenant, keys, nowMs: clock.wallNow() };
    return await verifyRevocations(jws, expected).catch((cause: unknown) => {
      throw new RevocationsError('NOT_VALID', tenant, { cause });
    });
  }

  async function fetchText(url: string, tenant: string): Promise<string> {
    const ending = new AbortController();
    const end = () => ending.abort();
    const cancelTimeout = clock.after(ANSWER_MS_MAX, end);
    stop.signal.addEventListener('abort', end);
    try {
      const answer = await fetchUrl(url, { redirect: 'error', signal: ending.signal });
      const text = await readText(answer);
      if (answer.status === 200 && text !== undefined) return text;
      const retryAfterMs = parseRetryAfter(answer.headers.get('retry-after'), clock);
      throw new RevocationsError('BAD_ANSWER', tenant, { status: answer.status, retryAfterMs });
    } catch (cause) {
      throw cause instanceof RevocationsError ? cause : new RevocationsError('NO_ANSWER', tenant, { cause });
    } finally {
      cancelTimeout();
      stop.signal.removeEventListener('abort', end);
    }
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
    async close() {
      stop.abort();
      await following;
    },
  };
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
