/** The events of API keys. None holds a secret or its hash. */
import type { NewEvent } from '../../events/event.ts';
import type { ApiKey, KeyKind } from './api-key.ts';

export const KEY_EVENTS = {
  key_created: 'An API key was created.',
  key_rotated: 'An API key was replaced.',
  key_revoked: 'An API key was revoked.',
} as const;

export const KEY_RETIREMENT_EVENTS = {
  key_retiring: 'A replaced API key or device credential soon stops working.',
} as const;

/** The subject of `key_created`, `key_rotated` and `key_revoked`. */
export interface ApiKeyChange {
  /** For a rotation, the new key. */
  readonly key: ApiKey;
  /** For a rotation: the id of the old key, and when it stops working. */
  readonly replacedId: string | null;
  readonly replacedRetiresAt: Date | null;
}

/** The subject of `key_retiring`: a key that was replaced by a rotation stops working soon. */
export interface KeyRetirement {
  /** The id of the old API key or device credential. */
  readonly keyId: string;
  readonly name: string;
  readonly kind: KeyKind | 'device';
  /** When it stops working. */
  readonly retiresAt: Date;
}

export function keyCreated(key: ApiKey): NewEvent {
  return keyEvent('key_created', { key, replacedId: null, replacedRetiresAt: null });
}

export function keyRotated(key: ApiKey, replacedId: string, replacedRetiresAt: Date): NewEvent {
  return keyEvent('key_rotated', { key, replacedId, replacedRetiresAt });
}

export function keyRevoked(key: ApiKey): NewEvent {
  return keyEvent('key_revoked', { key, replacedId: null, replacedRetiresAt: null });
}

export function keyRetiring({ keyId, name, kind, retiresAt }: KeyRetirement): NewEvent {
  const subject: KeyRetirement = { keyId, name, kind, retiresAt };
  return { type: 'key_retiring', roomUid: null, subject };
}

function keyEvent(type: keyof typeof KEY_EVENTS, subject: ApiKeyChange): NewEvent {
  return { type, roomUid: null, subject };
}
