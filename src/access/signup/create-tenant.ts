/** Create a tenant with its first key. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { newKey } from '../keys/api-key.ts';
import { createdEntry } from '../keys/key-audit.ts';
import { keyCreated } from '../keys/key-events.ts';
import { insertKey } from '../keys/keys.sql.ts';
import { openTenant } from './open-tenant.ts';

export interface CreatedTenant {
  readonly tenant: TenantId;
  readonly keyId: string;
  /** The plaintext of the backend key named `default`. Shown once. */
  readonly apiKey: string;
}

/** The tenant is pending. `name` and `email` must be valid, see `tenant.ts`. */
export async function createTenant(
  db: Pool,
  actor: Actor,
  keyPrefix: string,
  { name, email }: { name: string; email: string },
): Promise<CreatedTenant> {
  const key = newKey(keyPrefix);
  const isTrusted = actor.kind === 'operator';
  return inTransaction(db, async (tx) => {
    const { tenant } = await openTenant(tx, actor, { name, email });
    const created = await insertKey(tx, tenant, { ...key, name: 'default', kind: 'backend', isTrusted });
    await appendAudit(tx, tenant, actor, createdEntry(created));
    await appendEvents(tx, tenant, [keyCreated(created)]);
    return { tenant, keyId: key.id, apiKey: key.plaintext };
  });
}
