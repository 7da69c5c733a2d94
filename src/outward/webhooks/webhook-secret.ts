/**
 * The keys of a webhook endpoint: one that both sides share, and a pair whose public half verifies.
 *
 * Source: Standard Webhooks 1.0.0, "Signature scheme".
 */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { assert } from '../../base/lib/assert.ts';

/** A webhook has at most so many that sign. Each signs twice in the headers of every request. */
export const SIGNING_SECRETS_MAX = 4;

/** The standard has 24 to 64 bytes. */
const HMAC_KEY_BYTES = 32;
const SEED_BYTES = 32;

/** An Ed25519 private key in PKCS #8 is these bytes and the seed. Source: RFC 8410, section 7. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

export interface WebhookSecret {
  /** `whsec_` and base64: verifies signatures `v1`. */
  readonly secret: string;
  /** `whpk_` and base64: verifies signatures `v1a`. */
  readonly publicKey: string;
  /** What is sealed and stored: HMAC key, then Ed25519 seed. */
  readonly keys: Uint8Array;
}

export interface SigningKeys {
  readonly hmac: Uint8Array;
  readonly ed25519: KeyObject;
}

/** Makes the keys of a new endpoint, or of a rotation. */
export function newSecret(): WebhookSecret {
  return describeSecret(randomBytes(HMAC_KEY_BYTES + SEED_BYTES));
}

/** The secret that `keys` are the stored form of. */
export function describeSecret(keys: Uint8Array): WebhookSecret {
  const { hmac, ed25519 } = readKeys(keys);
  const { x } = createPublicKey(ed25519).export({ format: 'jwk' });
  return {
    secret: `whsec_${Buffer.from(hmac).toString('base64')}`,
    publicKey: `whpk_${Buffer.from(x!, 'base64url').toString('base64')}`,
    keys,
  };
}

/** Reading takes longer than to sign, and the same keys sign many webhooks in a row. */
const read = new WeakMap<Uint8Array, SigningKeys>();

/** The keys that sign. */
export function readKeys(keys: Uint8Array): SigningKeys {
  const known = read.get(keys);
  if (known !== undefined) return known;
  assert(keys.length === HMAC_KEY_BYTES + SEED_BYTES, 'keys of a webhook');
  const der = Buffer.concat([PKCS8_HEAD, keys.subarray(HMAC_KEY_BYTES)]);
  const signing: SigningKeys = {
    hmac: keys.subarray(0, HMAC_KEY_BYTES),
    ed25519: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
  };
  read.set(keys, signing);
  return signing;
}
