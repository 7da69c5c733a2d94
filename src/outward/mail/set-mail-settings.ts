/** Choose who gets mail about a tenant. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { changedFields } from '../../base/audit/audit-entry.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { findMailSettings, type TenantMail, upsertMailSettings } from './mail-settings.sql.ts';
import type { MailSettings } from './mail-settings.ts';

/** Replaces all settings. Returns them as they are now. */
export async function setMailSettings(
  tx: Tx,
  actor: Actor,
  tenant: TenantId,
  wanted: MailSettings,
): Promise<TenantMail> {
  await lockTenant(tx, tenant);
  const before = await findMailSettings(tx, tenant);
  const changes = changedFields(auditedOf(before), auditedOf(wanted));
  if (!changes) return before;
  await upsertMailSettings(tx, tenant, wanted);
  await appendAudit(tx, tenant, actor, { action: 'mail_settings_changed', subject: null, ...changes });
  return findMailSettings(tx, tenant);
}

function auditedOf({ signupAddress, addresses, alerts, receipts }: MailSettings) {
  return { signup_address: signupAddress, addresses, alerts, receipts };
}
