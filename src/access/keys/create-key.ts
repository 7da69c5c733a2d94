/**
 * Create an API key. Source: specification 4.8.
 *
 * It inherits the ceiling of the key that creates it, so a caller cannot create a more powerful key.
 */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { takePlace } from '../../base/tenants/places.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { lockForCaller } from '../sessions/lock-for-caller.ts';
import { API_KEYS_LIMIT, type ApiKey, type KeyKind, newKey } from './api-key.ts';
import type { KeyDeps } from './authenticate.ts';
import { createdEntry } from './key-audit.ts';
import { keyCreated } from './key-events.ts';
import { countInUse } from './key-life.sql.ts';
import { insertKey } from './keys.sql.ts';
import type { KeyChanger } from './lock-key.ts';

export interface CreatedKey {
  readonly key: ApiKey;
  /** Returned once, in the response to this request; only its hash is stored. */
  readonly plaintext: string;
}

/** Fails with `quota_exceeded`, and as `lockForCaller()` does. */
export async function createKey(
  tx: Tx,
  { keyPrefix }: KeyDeps['config'],
  caller: KeyChanger,
  { name, kind }: { name: string; kind: KeyKind },
): Promise<CreatedKey> {
  const { tenant, ceiling, isTrusted } = caller;
  await lockForCaller(tx, caller);
  const fresh = newKey(keyPrefix);
  const key = await insertKey(tx, tenant, { ...fresh, name, kind, ceiling, isTrusted });
  const count = (most: number) => countInUse(tx, 'api_keys', tenant, most);
  await takePlace(tx, limitHolderOf(caller), API_KEYS_LIMIT, count);
  await appendAudit(tx, tenant, caller.actor, createdEntry(key));
  await appendEvents(tx, tenant, [keyCreated(key)]);
  return { key, plaintext: fresh.plaintext };
}
