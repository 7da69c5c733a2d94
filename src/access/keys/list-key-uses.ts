/** How often an API key was used, hour by hour. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { HourOfKey } from './key-use.ts';
import { findKeyUses } from './last-uses.sql.ts';

/** As far as they are kept, without hours in which it was not used, the oldest first. */
export function listKeyUses(db: Db, tenant: TenantId, key: string): Promise<readonly HourOfKey[]> {
  return findKeyUses(db, tenant, key);
}
