/** Who gets mail about a tenant. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findMailSettings } from './mail-settings.sql.ts';
import type { MailRecipients } from './mail-settings.ts';

export async function getMailSettings(db: Db, tenant: TenantId): Promise<MailRecipients> {
  return findMailSettings(db, tenant);
}
