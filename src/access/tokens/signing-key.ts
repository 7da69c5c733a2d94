/**
 * The keys that sign participant tokens, and their rotation schedule.
 *
 * Relays cache the published keys for up to an hour. So a key is published for an hour before it signs
 * (`pending`), is the only one that signs (`active`), and stays published until its last token and all caches
 * have expired (`retiring`); then it is `removed`.
 */
import { generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose/jwk/thumbprint';
import { TOKEN_SECONDS_MAX } from '../rights/token-lifetime.ts';

export const SIGNING_ALGORITHM = 'ES256';

export type SigningKeyState = 'pending' | 'active' | 'retiring' | 'removed';

export interface SigningKeyRow {
  readonly kid: string;
  readonly state: SigningKeyState;
  readonly publishedAt: Date;
  readonly activatedAt: Date | null;
  readonly removeAt: Date | null;
  readonly removedAt: Date | null;
  /** Whether the schedule moves it to its next state now. */
  readonly due: boolean;
}

/** How long a reader may cache the published keys. */
const CACHE_SECONDS_MAX = 3600;
const SKEW_SECONDS = 60;

export const PENDING_SECONDS = CACHE_SECONDS_MAX;
export const RETIRING_SECONDS = TOKEN_SECONDS_MAX + SKEW_SECONDS + CACHE_SECONDS_MAX;

/** After this time, an active key gets a successor. */
export const ACTIVE_DAYS = 30;

/** A published key. Members are those of RFC 7517 and RFC 7518, 6.2.1, without `d`. */
export interface PublicJwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly y: string;
  readonly kid: string;
  readonly alg: string;
  readonly use: string;
}

export interface NewSigningKey {
  readonly kid: string;
  readonly publicKey: PublicJwk;
  /** PKCS #8, unencrypted: it must be sealed before it is stored. */
  readonly privateKey: Buffer;
}

export async function newSigningKey(): Promise<NewSigningKey> {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { kty = '', crv = '', x = '', y = '' } = pair.publicKey.export({ format: 'jwk' });
  const kid = await calculateJwkThumbprint({ kty, crv, x, y });
  return {
    kid,
    publicKey: { kty, crv, x, y, kid, alg: SIGNING_ALGORITHM, use: 'sig' },
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'der' }),
  };
}
