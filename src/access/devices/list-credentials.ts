/** Device credentials of a tenant, the oldest first: revoked and expired ones too, never a secret. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { DeviceCredential } from './device-credential.ts';
import { findCredentials } from './device-credentials.sql.ts';

/** Those after the credential `after`, up to `limit`; without them, all. */
export function listCredentials(
  db: Db,
  tenant: TenantId,
  page: { readonly after?: string | undefined; readonly limit?: number } = {},
): Promise<DeviceCredential[]> {
  return findCredentials(db, tenant, page);
}
