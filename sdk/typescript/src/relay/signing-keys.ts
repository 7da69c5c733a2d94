/**
 * The service's signing keys: given once, or fetched from its JWKS and cached.
 *
 * Rotation needs no action by a relay. A new key is published an hour before its first use, so the cache
 * has it in time. A token with an unknown key triggers a fetch, at most every 30 seconds.
 */
import { type CryptoKey, importJWK } from 'jose';
import { isObject } from './jws.ts';
import { AdmissionRefused } from './refusal.ts';
import type { Clock } from './usage/clock.ts';

/** The keys are fetched again after this time, so a removed key may be accepted for as long. */
export const KEYS_FRESH_SECONDS = 600;
/** While the service is unavailable, keys up to this age are still used. */
export const KEYS_USABLE_SECONDS = 3600;
/** Minimum time between two fetches, whether the first succeeded or not. */
export const FETCH_COOLDOWN_SECONDS = 30;
const FETCH_TIMEOUT_SECONDS = 5;
const COORDINATE_BYTES = 32;

/** A JSON Web Key Set (RFC 7517). Keys that are not public P-256 keys with a `kid` are ignored. */
export interface Jwks {
  /** The keys. */
  readonly keys: readonly object[];
}

export interface SigningKeys {
  /** Throws `AdmissionRefused` if there is no such key, or no key set. */
  get(kid: unknown): Promise<CryptoKey>;
}

type KeysById = ReadonlyMap<unknown, CryptoKey>;

export function fixedKeys(jwks: Jwks): SigningKeys {
  let imported: Promise<KeysById> | undefined;
  return {
    async get(kid) {
      imported ??= importKeys(jwks);
      return find(await imported, kid);
    },
  };
}

export function fetchedKeys(
  url: string | URL,
  options: { fetch: typeof fetch; clock: Pick<Clock, 'now'> },
): SigningKeys {
  const { clock } = options;
  let keys: KeysById = new Map();
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  let flight: Promise<void> | undefined;

  /** One fetch at a time, shared by all callers. A failed one keeps the old keys. */
  async function refresh(): Promise<void> {
    if (!flight && secondsSince(triedAt) < FETCH_COOLDOWN_SECONDS) return;
    flight ??= load().finally(() => {
      flight = undefined;
    });
    await flight;
  }

  async function load(): Promise<void> {
    triedAt = clock.now();
    try {
      keys = await importKeys(await fetchJwks(url, options.fetch));
      fetchedAt = triedAt;
    } catch (error) {
      failure = error;
    }
  }

  function secondsSince(time: number): number {
    return (clock.now() - time) / 1000;
  }

  return {
    async get(kid) {
      if (secondsSince(fetchedAt) >= KEYS_FRESH_SECONDS || !keys.has(kid)) await refresh();
      if (secondsSince(fetchedAt) >= KEYS_USABLE_SECONDS) {
        throw new AdmissionRefused('KEYS_UNAVAILABLE', { cause: failure });
      }
      return find(keys, kid);
    },
  };
}

function find(keys: KeysById, kid: unknown): CryptoKey {
  const key = keys.get(kid);
  if (!key) throw new AdmissionRefused('TOKEN_UNKNOWN_KEY');
  return key;
}

async function fetchJwks(url: string | URL, fetchUrl: typeof fetch): Promise<Jwks> {
  const answer = await fetchUrl(url, {
    headers: { accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_TIMEOUT_SECONDS * 1000),
  });
  if (answer.status !== 200) throw new Error(`the key set answers ${answer.status}`);
  const jwks: unknown = await answer.json();
  if (!isObject(jwks) || !Array.isArray(jwks.keys)) throw new Error('the answer is not a JSON Web Key Set');
  return { keys: jwks.keys };
}

async function importKeys(jwks: Jwks): Promise<KeysById> {
  const pairs = await Promise.all(jwks.keys.map(importKey));
  return new Map(pairs.filter((pair) => pair !== undefined));
}

async function importKey(jwk: unknown): Promise<[string, CryptoKey] | undefined> {
  if (!isObject(jwk) || typeof jwk.kid !== 'string' || 'd' in jwk) return undefined;
  if ((jwk.alg ?? 'ES256') !== 'ES256' || (jwk.use ?? 'sig') !== 'sig') return undefined;
  const key = await importPublicKey(jwk);
  return key && [jwk.kid, key];
}

/** A public P-256 key from its coordinates; undefined if they are not a point of the curve. */
export async function importPublicKey(jwk: Record<string, unknown>): Promise<CryptoKey | undefined> {
  const { kty, crv, x, y } = jwk;
  if (kty !== 'EC' || crv !== 'P-256' || !isCoordinate(x) || !isCoordinate(y)) return undefined;
  const key = await importJWK({ kty, crv, x, y }, 'ES256').catch(() => undefined);
  return key instanceof Uint8Array ? undefined : key;
}

/** 32 bytes in their one canonical encoding: the import also takes padding, white space and bits that do not count. */
function isCoordinate(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const bytes = Buffer.from(value, 'base64url');
  return bytes.length === COORDINATE_BYTES && bytes.toString('base64url') === value;
}
