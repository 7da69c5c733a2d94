/**
 * API keys: their form, their secrets and their life.
 *
 * Source: specification 2.4 and 3.2. The plaintext is `<prefix>_<16 hex>_<secret>`, where the secret is 256
 * random bits in base64url. Only its SHA-256 is stored: a slow hash protects guessable secrets, and 256
 * random bits cannot be guessed.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { randomHex } from '../../base/lib/ids.ts';
import type { TenantLimit } from '../../base/tenants/limits.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

export const API_KEYS_LIMIT = {
  name: 'api_keys',
  pending: 10,
  active: 100,
  unit: 'live API keys',
} as const satisfies TenantLimit;

export const KEY_KINDS = ['backend', 'relay'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** In characters; also for device credentials. Source: specification 8. */
export const KEY_NAME_LENGTH_MAX = 100;

/** The life of an API key or device credential, from creation to revocation or replacement. */
export interface KeyLife {
  readonly createdAt: Date;
  /** Set only during the overlap of a rotation. */
  readonly retiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface ApiKey extends KeyLife {
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
}

/**
 * A key is trusted if it was made or kept by a person of the tenant who has proved an address, by an
 * operator, or by a trusted key. The key of a signup is not: a stranger may sign up with another person's address.
 */
export interface KeyTrust {
  readonly isTrusted: boolean;
}

/** The owner of a verified key. */
export interface Caller {
  readonly tenant: TenantId;
  readonly keyId: string;
  readonly kind: KeyKind;
}

export interface NewKey {
  readonly id: string;
  readonly plaintext: string;
  readonly hash: Buffer;
}

export function newKey(prefix: string): NewKey {
  const id = randomHex(8);
  const plaintext = `${prefix}_${id}_${randomBytes(32).toString('base64url')}`;
  return { id, plaintext, hash: hashKey(plaintext) };
}

export function hashKey(plaintext: string): Buffer {
  return hash('sha256', plaintext, 'buffer');
}

/** The id inside a key; `undefined` if the text cannot be a key of this deployment, which saves a query. */
export function keyIdOf(plaintext: string, prefix: string): string | undefined {
  const [, itsPrefix, id] = /^([A-Za-z0-9]+)_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/.exec(plaintext) ?? [];
  return itsPrefix === prefix ? id : undefined;
}

/** The form of ids of API keys and device credentials. */
export const KEY_ID_PATTERN = '^[0-9a-f]{16}$';

export function isKeyId(text: string): boolean {
  return new RegExp(KEY_ID_PATTERN).test(text);
}

const NO_KEY = Buffer.alloc(32);

/** Compare in constant time. An unknown id takes as long as a wrong secret. */
export function secretMatches(plaintext: string, storedHash: Buffer | undefined): boolean {
  return timingSafeEqual(hashKey(plaintext), storedHash ?? NO_KEY) && storedHash !== undefined;
}
