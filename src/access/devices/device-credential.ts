/**
 * Device credentials: what a device without a back end shows to join a room.
 *
 * Source: specification 4.11 and 5. The plaintext is `dev_<16 hex>_<secret>`, made, hashed and
 * compared as an API key is. What a credential may publish and which rooms it may join is fixed when
 * it is created; a request can only ask for less.
 */

import type { TenantId } from '../../base/tenants/tenant.ts';
import { type KeyLife, type NewKey, newKey } from '../keys/api-key.ts';
import type { PublishRight } from '../rights/publish-rights.ts';

export const CREDENTIAL_PREFIX = 'dev';

export const ROOM_PATTERNS_MAX = 100;

/** What its owner decides about a credential. */
export interface DeviceGrant {
  readonly name: string;
  /** Empty: the credential exists, but nothing can be joined with it. */
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
export interface Device {
  readonly tenant: TenantId;
  readonly credentialId: string;
  readonly publish: readonly PublishRight[];
  readonly rooms: readonly string[] | null;
  readonly defaultRoom: string | null;
}

export function newCredential(): NewKey {
  return newKey(CREDENTIAL_PREFIX);
}
