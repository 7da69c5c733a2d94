/** Authenticates an agent by its key. As with API keys, every failure gives the same message. */
import { Lookups } from '../../base/db/lookups.ts';
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { KeyDeps } from '../keys/authenticate.ts';
import { parseAuthorization, verifySecret } from '../keys/verify-secret.ts';
import type { KeyCeiling } from '../rights/key-ceiling.ts';
import { AGENT_PREFIX, type Agent } from './agent-key.ts';
import { type AgentKeyInUse, findAgentKeysById } from './agent-keys.sql.ts';

/** It mints no tokens, and makes no keys. */
const NO_CEILING: KeyCeiling = { capabilities: [], roles: [], rooms: [], rank: 0, lifetimeSeconds: 0 };

/** Look-ups that come at the same time share a statement. */
export class AgentLookups extends Lookups<AgentKeyInUse> {
  constructor(db: Pool) {
    super((ids) => findAgentKeysById(db, ids));
  }
}

/** Fails with `invalid_api_key`, `too_many_failed_keys`, and `tenant_not_active` for a deleted tenant. */
export async function authenticateAgent(
  deps: Pick<KeyDeps, 'failedKeys'>,
  lookups: AgentLookups,
  authorization: string | undefined,
  address: string,
): Promise<Agent> {
  const secret = parseAuthorization(authorization, AGENT_PREFIX);
  if (!secret) throw new Failure('invalid_api_key');
  const key = await verifySecret(deps.failedKeys, secret, address, (id) => lookups.find(id));
  if (key.status === 'deleted') throw new Failure('tenant_not_active');
  return {
    tenant: key.tenant,
    keyId: key.id,
    // The kind of the routes that its tools are. It opens none of them by itself.
    kind: 'backend',
    tenantStatus: key.status,
    tenantLimits: key.limits,
    ceiling: NO_CEILING,
    isTrusted: false,
    actor: { kind: 'key', id: key.id, address },
    role: key.role,
    writesPerDay: key.writesPerDay,
  };
}
