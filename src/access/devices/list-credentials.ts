/** Device credentials of a tenant, oldest first, including revoked and expired ones. Never a secret. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { DeviceCredential } from './device-credential.ts';
import { findCredentials } from './device-credentials.sql.ts';

/** Up to `limit` credentials after the credential `after`; without `page`, all of them. */
export function listCredentials(
  db: Db,
  tenant: TenantId,
  page: { readonly after?: string | undefined; readonly limit?: number } = {},
): Promise<DeviceCredential[]> {
  return findCredentials(db, tenant, page);
}
