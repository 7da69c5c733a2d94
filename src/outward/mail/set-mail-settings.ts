/** Choose who gets mail about a tenant. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { findMailSettings, type TenantMail, upsertMailSettings } from './mail-settings.sql.ts';
import type { MailSettings } from './mail-settings.ts';

/** Replaces all settings. Returns them as they are now. */
export async function setMailSettings(tx: Tx, tenant: TenantId, wanted: MailSettings): Promise<TenantMail> {
  await lockTenant(tx, tenant);
  await upsertMailSettings(tx, tenant, wanted);
  return findMailSettings(tx, tenant);
}
