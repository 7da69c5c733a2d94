/** Create a key for an agent. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure, notFound } from '../../base/failure.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { newKey } from '../keys/api-key.ts';
import { lockForCaller } from '../sessions/lock-for-caller.ts';
import {
  AGENT_KEYS_MAX,
  AGENT_PREFIX,
  type AgentKey,
  type AgentKeyChanger,
  type NewAgentKey,
} from './agent-key.ts';
import { countAgentKeys, insertAgentKey } from './agent-keys.sql.ts';

export interface CreatedAgentKey {
  readonly key: AgentKey;
  /** Returned once; only its hash is stored. */
  readonly plaintext: string;
}

/** Fails with `not_found`, `tenant_not_active` for a deleted tenant, `quota_exceeded`, and as `lockForCaller()` does. */
export async function createAgentKey(
  tx: Tx,
  caller: AgentKeyChanger,
  wanted: NewAgentKey,
): Promise<CreatedAgentKey> {
  const { tenant: tenantId, actor } = caller;
  await lockForCaller(tx, caller);
  const tenant = await lockTenant(tx, tenantId);
  if (!tenant) throw notFound('tenant');
  if (tenant.status === 'deleted') throw new Failure('tenant_not_active');
  if ((await countAgentKeys(tx, tenantId)) >= AGENT_KEYS_MAX) {
    const message = `limit reached: at most ${AGENT_KEYS_MAX} live keys for agents`;
    throw new Failure('quota_exceeded', { message });
  }
  const fresh = newKey(AGENT_PREFIX);
  const key = await insertAgentKey(tx, tenantId, { ...fresh, ...wanted });
  const { id, name, role, writesPerDay, expiresAt } = key;
  await appendAudit(tx, tenantId, actor, {
    action: 'agent_key_created',
    subject: id,
    before: null,
    after: { name, role, writes_per_day: writesPerDay, expires_at: expiresAt },
  });
  return { key, plaintext: fresh.plaintext };
}
