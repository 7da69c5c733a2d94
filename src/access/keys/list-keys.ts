/** All keys of a tenant, oldest first, including revoked ones. Never a secret. Source: specification 4.7. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ApiKey } from './api-key.ts';
import { findKeys } from './keys.sql.ts';

export function listKeys(db: Db, tenant: TenantId): Promise<ApiKey[]> {
  return findKeys(db, tenant);
}
