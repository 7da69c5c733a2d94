/**
 * Follows what has been taken back of the tenants' tokens: one long poll for each tenant, for ever.
 *
 * A snapshot is taken over only when the service signed it for this tenant, and never one that is
 * older than what is known. While there is none that is fresh, `createTokenVerifier` refuses
 * newcomers and renewals; sessions that run go on.
 */
import type { Revocations } from './revocations.ts';
import { fetchedKeys, fixedKeys, type Jwks } from './signing-keys.ts';
import { Backoff } from './usage/backoff.ts';
import { type Clock, pause, systemClock } from './usage/clock.ts';
import { parseRetryAfter } from './usage/post-usage.ts';
import { verifyRevocations } from './verify-revocations.ts';

/** The service answers within 25 seconds, even when there is nothing new. */
const ANSWER_MS_MAX = 40_000;
/** Snapshots last a minute, so there is time for several attempts. */
const RETRY_MS_MAX = 5_000;
/** A server that asks for more patience is asked again all the same: without snapshots nobody comes in. */
const RETRY_AFTER_MS_MAX = 30_000;
/** After an answer that came at once with nothing new in it. */
const NOTHING_NEW_MS = 1_000;
const SNAPSHOT_CHARACTERS_MAX = 16 * 1024 * 1024;

/** Whom to follow, and where the keys are: `jwksUrl`, or `jwks` for keys that never change. */
export type RevocationFeedOptions = {
  /** Base URL of the service. */
  readonly url: string;
  readonly tenants: Iterable<string>;
  /** `iss` of the snapshots, as of tokens. */
  readonly issuer: string;
  /** `aud` of the snapshots, as of tokens. */
  readonly audience: string;
  /** Something else is revoked from now on: the time to check the sessions of the tenant. */
  readonly onChange?: (tenant: string, revocations: Revocations) => void;
  /** An attempt failed; there will be others. */
  readonly onError?: (error: RevocationsError) => void;
  /** For tests: time, chance and the network. */
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly fetch?: typeof fetch;
} & (
  | { readonly jwksUrl: string | URL; readonly jwks?: never }
  | { readonly jwks: Jwks; readonly jwksUrl?: never }
);

/** What is revoked, kept up to date until `close()`. */
export interface RevocationFeed {
  /** The newest snapshot; goes into `createTokenVerifier` as `revocations`. Needs no `this`. */
  readonly get: (tenant: string) => Revocations | undefined;
  /** Ask no more. Resolves once no poll is under way. */
  close(): Promise<void>;
}

/**
 * `NO_ANSWER`: none came, or not in time. `BAD_ANSWER`: it was not 200, or far too long. `NOT_VALID`:
 * not signed by the service, or not for this tenant, or not of now. `OLDER`: older than what is known.
 */
export type RevocationsErrorCode = 'NO_ANSWER' | 'BAD_ANSWER' | 'NOT_VALID' | 'OLDER';

/** One attempt to get newer revocations failed; `onError` hears of it, and nobody has to act. */
export class RevocationsError extends Error {
  override readonly name = 'RevocationsError';
  readonly code: RevocationsErrorCode;
  readonly tenant: string;
  /** HTTP status of a `BAD_ANSWER`. */
  readonly status: number | undefined;
  readonly retryAfterMs: number;

  constructor(
    code: RevocationsErrorCode,
    tenant: string,
    options: ErrorOptions & { status?: number; retryAfterMs?: number } = {},
  ) {
    super(`no newer revocations of ${tenant}: ${code}`, options);
    this.code = code;
    this.tenant = tenant;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs ?? 0;
  }
}

/**
 * Follow the revocations of tenants from now on, with one request open for each. It throws nothing: failures
 * go to `onError`, and are tried again within 5 seconds, or after `Retry-After`, up to 30.
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

  /** Whether it says anything else than the one before. */
  function keep(tenant: string, snapshot: Revocations): boolean {
    const known = snapshots.get(tenant);
    // One that has ended was signed before this one, so a smaller number then means that numbers began anew.
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

/** Undefined where it is too long to be one. */
async function readText(answer: Response): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of answer.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > SNAPSHOT_CHARACTERS_MAX) return undefined;
  }
  return text;
}

/** A listener that throws does so as an uncaught error of its own, not in the middle of our work. */
function tell(listener: () => void): void {
  try {
    listener();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
