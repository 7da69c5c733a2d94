/** Revoke the key of an agent at once, with what it could still confirm. */
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import { lockForCaller } from '../sessions/lock-for-caller.ts';
import type { AgentKey, AgentKeyChanger } from './agent-key.ts';
import { lockAgentKey, markAgentKeyRevoked } from './agent-keys.sql.ts';

/** Returns the key after the change. Revoking a revoked key changes nothing. Fails with `not_found`, and as `lockForCaller()` does. */
export async function revokeAgentKey(tx: Tx, caller: AgentKeyChanger, id: string): Promise<AgentKey> {
  const { tenant, actor } = caller;
  await lockForCaller(tx, caller);
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
