/**
 * Device credentials, with which a device without a back end joins rooms.
 *
 * Source: specification 4.11 and 5. The plaintext is `dev_<16 hex>_<secret>`, generated, hashed and compared
 * like an API key. Publish rights and rooms are fixed at creation; a request can only ask for less.
 */

import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { TenantLimit } from '../../base/tenants/limits.ts';
import { type KeyLife, type NewKey, newKey } from '../keys/api-key.ts';
import type { PublishRight } from '../rights/publish-rights.ts';

export const DEVICE_CREDENTIALS_LIMIT = {
  name: 'device_credentials',
  pending: 100,
  active: 1_000,
  unit: 'live device credentials',
} as const satisfies TenantLimit;

export const CREDENTIAL_PREFIX = 'dev';

/** Patterns of a new credential: a list of credentials repeats them all. Older credentials may have more. */
export const ROOM_PATTERNS_MAX = 20;

/** What the tenant sets when it creates a credential. */
export interface DeviceGrant {
  readonly name: string;
  /** Empty: the credential cannot join any room. */
  readonly publish: readonly PublishRight[];
  /** Names and patterns; `null`: every room of the tenant. */
  readonly rooms: readonly string[] | null;
  readonly defaultRoom: string | null;
  readonly expiresAt: Date | null;
}

export interface DeviceCredential extends DeviceGrant, KeyLife {
  readonly id: string;
}

/** The device behind a verified credential. */
export interface Device extends LimitedCaller {
  readonly credentialId: string;
  readonly publish: readonly PublishRight[];
  readonly rooms: readonly string[] | null;
  readonly defaultRoom: string | null;
}

export function newCredential(): NewKey {
  return newKey(CREDENTIAL_PREFIX);
}
