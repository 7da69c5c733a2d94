/** An operator changes the name of a tenant. Statements of months that are over keep the old one. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import { lockTenant, updateName } from '../../base/tenants/tenants.sql.ts';

/** `name` must be valid. The people of the tenant read the reason too. Fails with `not_found`. */
export async function renameTenant(
  tx: Tx,
  actor: Actor,
  id: TenantId,
  { name, reason }: { readonly name: string; readonly reason: string },
): Promise<void> {
  const tenant = await lockTenant(tx, id);
  if (!tenant) throw notFound('tenant');
  if (tenant.name === name) return;
  await updateName(tx, tenant, name);
  await appendAudit(tx, id, actor, {
    action: 'tenant_renamed',
    subject: renderTenantId(id),
    before: { name: tenant.name },
    after: { name, reason },
  });
}
