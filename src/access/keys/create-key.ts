/**
 * Create an API key. Source: specification 4.8.
 *
 * It has the ceiling of the key that makes it: whoever holds a key cannot make one that may do more.
 */
import { inTransaction } from '../../base/db/transaction.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { type ApiKey, type KeyKind, newKey } from './api-key.ts';
import type { AuthenticatedCaller, KeyDeps } from './authenticate.ts';
import { keyCreated } from './key-events.ts';
import { insertKey } from './keys.sql.ts';

export interface CreatedKey {
  readonly key: ApiKey;
  /** Shown once, in the answer to this request; only its hash is kept. */
  readonly plaintext: string;
}

export async function createKey(
  deps: KeyDeps,
  { tenant, ceiling }: AuthenticatedCaller,
  { name, kind }: { name: string; kind: KeyKind },
): Promise<CreatedKey> {
  const fresh = newKey(deps.config.keyPrefix);
  const key = await inTransaction(deps.db, async (tx) => {
    const key = await insertKey(tx, tenant, { ...fresh, name, kind, ceiling });
    await appendEvents(tx, tenant, [keyCreated(key)]);
    return key;
  });
  deps.events.wake(tenant);
  return { key, plaintext: fresh.plaintext };
}
