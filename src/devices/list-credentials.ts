/** All device credentials of a tenant, the oldest first: revoked and expired ones too, never a secret. */
import type { Deps } from '../deps.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { DeviceCredential } from './device-credential.ts';
import { selectCredentials } from './device-credentials.sql.ts';

export function listCredentials(deps: Deps, tenant: TenantId): Promise<DeviceCredential[]> {
  return selectCredentials(deps.db, tenant);
}
