/**
 * API keys: their form, their secrets and their life.
 *
 * Source: specification 2.4 and 3.2. The plaintext is `<prefix>_<16 hex>_<secret>`, where the secret
 * is 256 random bits in base64url. Only its SHA-256 is stored: a slow hash would protect a secret
 * that somebody might guess, and nobody guesses 256 bits.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { randomHex } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

export const KEY_KINDS = ['backend', 'relay'] as const;
export type KeyKind = (typeof KEY_KINDS)[number];

/** Characters; of a device credential too. Source: specification 8. */
export const KEY_NAME_LENGTH_MAX = 100;

/** From its creation until it is revoked or replaced. A device credential has the same. */
export interface KeyLife {
  readonly createdAt: Date;
  /** Only while the overlap of a rotation is running. */
  readonly retiresAt: Date | null;
  readonly revokedAt: Date | null;
}

export interface ApiKey extends KeyLife {
  readonly id: string;
  readonly name: string;
  readonly kind: KeyKind;
}

/** Whom a verified key speaks for. */
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

/**
 * The id inside a key; `undefined` where the text cannot be a key of this deployment at all, which
 * spares the database the question.
 */
export function keyIdOf(plaintext: string, prefix: string): string | undefined {
  const [, itsPrefix, id] = /^([A-Za-z0-9]+)_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/.exec(plaintext) ?? [];
  return itsPrefix === prefix ? id : undefined;
}

export function isKeyId(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text);
}

const NO_KEY = Buffer.alloc(32);

/** Compare in constant time. An id that does not exist costs what a wrong secret costs. */
export function secretMatches(plaintext: string, storedHash: Buffer | undefined): boolean {
  return timingSafeEqual(hashKey(plaintext), storedHash ?? NO_KEY) && storedHash !== undefined;
}
