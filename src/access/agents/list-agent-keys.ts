/** The keys for agents of a tenant, including revoked and expired ones. Never a secret. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { labelsOf } from '../devices/label-keys.ts';
import type { ListedAgentKey } from './agent-key.ts';
import { findAgentKeyNames, findAgentKeys } from './agent-keys.sql.ts';

export const AGENT_KEYS_LISTED_MAX = 100;

/** Up to `AGENT_KEYS_LISTED_MAX`: those that work, and then the newest. */
export function listAgentKeys(db: Db, tenant: TenantId): Promise<readonly ListedAgentKey[]> {
  return findAgentKeys(db, tenant, AGENT_KEYS_LISTED_MAX);
}

/** Like `labelKeys()`, of these keys. */
export async function labelAgentKeys(
  db: Db,
  tenant: TenantId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  return labelsOf(await findAgentKeyNames(db, tenant, ids));
}
