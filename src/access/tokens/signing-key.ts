/**
 * The keys that sign participant tokens, and the schedule that they live by.
 *
 * Relays keep the published keys for up to an hour. So a key is published for an hour before it
 * signs (`pending`), signs alone (`active`), and stays published until its last token has expired
 * and every cache may have learned of it (`retiring`); then it is `removed`.
 */
import { generateKeyPairSync } from 'node:crypto';
import { calculateJwkThumbprint } from 'jose';
import { TOKEN_SECONDS_MAX } from '../rights/token-lifetime.ts';

export const SIGNING_ALGORITHM = 'ES256';

export const SIGNING_KEY_STATES = ['pending', 'active', 'retiring', 'removed'] as const;
export type SigningKeyState = (typeof SIGNING_KEY_STATES)[number];

/** How long whoever reads the published keys may go on with what he has read. */
const CACHE_SECONDS_MAX = 3600;
const SKEW_SECONDS = 60;

export const PENDING_SECONDS = CACHE_SECONDS_MAX;
export const RETIRING_SECONDS = TOKEN_SECONDS_MAX + SKEW_SECONDS + CACHE_SECONDS_MAX;

/** A key that has signed for so long gets a successor. */
export const ACTIVE_DAYS = 30;

/** As it is published. Members are those of RFC 7517 and RFC 7518, 6.2.1, and never `d`. */
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
  /** PKCS #8, in plain: it is sealed before it goes anywhere. */
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
