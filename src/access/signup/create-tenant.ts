/** Create a tenant with its first key. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { NewAuditEntry } from '../../base/audit/audit-entry.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { newTenantId, renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { insertTenant } from '../../base/tenants/tenants.sql.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { newKey } from '../keys/api-key.ts';
import { createdEntry } from '../keys/key-audit.ts';
import { keyCreated } from '../keys/key-events.ts';
import { insertKey } from '../keys/keys.sql.ts';

export interface CreatedTenant {
  readonly tenant: TenantId;
  readonly keyId: string;
  /** Of the backend key named `default`. Shown once. */
  readonly apiKey: string;
}

/** The tenant is pending. `name` and `email` must be valid, see `tenant.ts`. */
export async function createTenant(
  db: Pool,
  actor: Actor,
  keyPrefix: string,
  { name, email }: { name: string; email: string },
): Promise<CreatedTenant> {
  const tenant = newTenantId();
  const key = newKey(keyPrefix);
  await inTransaction(db, async (tx) => {
    await insertTenant(tx, { id: tenant, name, email });
    const created = await insertKey(tx, tenant, { ...key, name: 'default', kind: 'backend' });
    await appendAudit(tx, tenant, actor, tenantCreated(tenant));
    await appendAudit(tx, tenant, actor, createdEntry(created));
    await appendEvents(tx, tenant, [keyCreated(created)]);
  });
  return { tenant, keyId: key.id, apiKey: key.plaintext };
}

/** Without name and address of the customer, who may be a person. */
function tenantCreated(tenant: TenantId): NewAuditEntry {
  const subject = renderTenantId(tenant);
  return { action: 'tenant_created', subject, before: null, after: { status: 'pending' } };
}
