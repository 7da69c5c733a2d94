/** Create a tenant with its first key. Its address is that of its first owner. */
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { newTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { insertTenant } from '../../base/tenants/tenants.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { newKey } from '../keys/api-key.ts';
import { keyCreated } from '../keys/key-events.ts';
import { insertKey } from '../keys/keys.sql.ts';
import { insertMember } from '../members/members.sql.ts';

export interface CreatedTenant {
  readonly tenant: TenantId;
  readonly keyId: string;
  /** Of the backend key named `default`. Shown once. */
  readonly apiKey: string;
}

/** The tenant is pending. `name` and `email` must be valid, see `tenant.ts`. */
export async function createTenant(
  db: Pool,
  keyPrefix: string,
  { name, email }: { name: string; email: string },
): Promise<CreatedTenant> {
  const tenant = newTenantId();
  const key = newKey(keyPrefix);
  await inTransaction(db, async (tx) => {
    await insertTenant(tx, { id: tenant, name, email });
    await insertMember(tx, tenant, { email, role: 'owner' });
    const created = await insertKey(tx, tenant, { ...key, name: 'default', kind: 'backend' });
    await appendEvents(tx, tenant, [keyCreated(created)]);
  });
  return { tenant, keyId: key.id, apiKey: key.plaintext };
}
