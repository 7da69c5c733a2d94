/** The keys for agents of a tenant, the newest first, including revoked and expired ones. Never a secret. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { AgentKey } from './agent-key.ts';
import { findAgentKeys } from './agent-keys.sql.ts';

const LISTED_MAX = 100;

export function listAgentKeys(db: Db, tenant: TenantId): Promise<readonly AgentKey[]> {
  return findAgentKeys(db, tenant, LISTED_MAX);
}
