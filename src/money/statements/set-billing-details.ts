/** Change name, address and tax id of a tenant on its statements. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { changedFields } from '../../base/audit/audit-entry.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { findNewestDetails, insertDetails } from './billing-details.sql.ts';
import type { BillingDetails } from './billing-details.ts';

/** Replaces all of them, from now on. `reason`: that of an operator. */
export async function setBillingDetails(
  tx: Tx,
  actor: Actor,
  tenant: TenantId,
  wanted: BillingDetails,
  reason?: string,
): Promise<void> {
  await lockTenant(tx, tenant);
  const { seq, details } = await findNewestDetails(tx, tenant);
  const changes = changedFields(auditedOf(details), auditedOf(wanted));
  if (!changes) return;
  await insertDetails(tx, tenant, seq + 1n, wanted);
  await appendAudit(tx, tenant, actor, {
    action: 'billing_details_changed',
    subject: null,
    before: changes.before,
    after: { ...changes.after, ...(reason !== undefined && { reason }) },
  });
}

function auditedOf({ name, address, taxId }: BillingDetails) {
  return { name, address, tax_id: taxId };
}
