/** Revoke the key of an agent at once, with what it could still confirm. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { AgentKey } from './agent-key.ts';
import { lockAgentKey, markAgentKeyRevoked } from './agent-keys.sql.ts';

/** Returns the key after the change. Revoking a revoked key changes nothing. Fails with `not_found`. */
export async function revokeAgentKey(tx: Tx, actor: Actor, tenant: TenantId, id: string): Promise<AgentKey> {
  const key = await lockAgentKey(tx, tenant, id);
  if (!key) throw notFound('key for agents');
  if (key.revokedAt) return key;
  const revokedAt = await markAgentKeyRevoked(tx, tenant, id);
  await appendAudit(tx, tenant, actor, {
    action: 'agent_key_revoked',
    subject: id,
    before: { revoked_at: null },
    after: { revoked_at: revokedAt },
  });
  return { ...key, revokedAt };
}
