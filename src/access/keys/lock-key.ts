/** Find the key that a call changes, and check that the caller's key may change it. */
import type { Actor } from '../../base/audit/actor.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { assert } from '../../base/lib/assert.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import { type KeyCeiling, refuseWiderCeiling } from '../rights/key-ceiling.ts';
import { lockForCaller } from '../sessions/lock-for-caller.ts';
import type { ActingCaller } from '../sessions/session.ts';
import type { ApiKey, KeyTrust } from './api-key.ts';
import { findKey, lockCeiling } from './keys.sql.ts';

/** Who changes keys: a caller with a key, or a session of the console. What is trusted makes keys that are. */
export interface KeyChanger extends LimitedCaller, KeyTrust, ActingCaller {
  /** The key that the change is made with, if any. */
  readonly keyId: string | undefined;
  /** The ceiling of this key; a new key inherits it. */
  readonly ceiling: KeyCeiling;
  readonly actor: Actor;
}

export interface LockedKey {
  readonly key: ApiKey;
  readonly ceiling: KeyCeiling;
}

/**
 * Serializes changes to a tenant's keys until the transaction ends. Fails with `not_found`, and with
 * `ceiling_exceeded` for a key whose ceiling is not within the caller's: a replacement would give the caller
 * more than it has.
 */
export async function lockKey(tx: Tx, caller: KeyChanger, keyId: string): Promise<LockedKey> {
  await lockForCaller(tx, caller);
  const key = await findKey(tx, caller.tenant, keyId);
  if (!key) throw new Failure('not_found');
  const locked = await lockCeiling(tx, key.id);
  assert(locked, 'ceiling of the key');
  const { tenant: _tenant, ...ceiling } = locked;
  refuseWiderCeiling(caller.ceiling, ceiling);
  return { key, ceiling };
}
