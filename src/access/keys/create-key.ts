/**
 * Create an API key. Source: specification 4.8.
 *
 * It inherits the ceiling of the key that creates it, so a caller cannot create a more powerful key.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { takePlace } from '../../base/tenants/places.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { type ApiKey, type KeyKind, newKey } from './api-key.ts';
import type { AuthenticatedCaller, KeyDeps } from './authenticate.ts';
import { keyCreated } from './key-events.ts';
import { insertKey } from './keys.sql.ts';
import { countInUse } from './working-key.sql.ts';

export interface CreatedKey {
  readonly key: ApiKey;
  /** Returned once, in the response to this request; only its hash is stored. */
  readonly plaintext: string;
}

/** Fails with `quota_exceeded`. */
export async function createKey(
  deps: KeyDeps,
  caller: AuthenticatedCaller,
  { name, kind }: { name: string; kind: KeyKind },
): Promise<CreatedKey> {
  const { tenant, ceiling } = caller;
  const fresh = newKey(deps.config.keyPrefix);
  const key = await inTransaction(deps.db, async (tx) => {
    const key = await insertKey(tx, tenant, { ...fresh, name, kind, ceiling });
    await takePlace(tx, limitHolderOf(caller), 'api_keys', (most) =>
      countInUse(tx, 'api_keys', tenant, most),
    );
    await appendEvents(tx, tenant, [keyCreated(key)]);
    return key;
  });
  deps.events.wake(tenant);
  return { key, plaintext: fresh.plaintext };
}
