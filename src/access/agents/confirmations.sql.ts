/** SQL of `agent_confirmations`. Each statement here needs the lock of the key. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Agent } from './agent-key.ts';

/** A write of the last 24 hours. */
export const IS_COUNTED = "used_at > now() - interval '24 hours'";

interface StoredConfirmation {
  readonly hash: Buffer;
  readonly argumentsHash: Buffer;
  readonly tool: string;
}

/** Those that are over, and count no more. */
export async function removeOldConfirmations(tx: Tx, tenant: TenantId, keyId: string): Promise<void> {
  await tx.query({
    name: 'remove-old-confirmations',
    text: `delete from agent_confirmations
            where tenant_id = $1 and key_id = $2 and expires_at <= now()
              and (used_at is null or used_at <= now() - interval '24 hours')`,
    values: [tenant, keyId],
  });
}

/** How many were used in the last 24 hours, and how many still can be. */
export async function countConfirmations(
  tx: Tx,
  tenant: TenantId,
  keyId: string,
): Promise<{ readonly used: number; readonly open: number }> {
  const { rows } = await tx.query<{ used: number; open: number }>({
    name: 'count-confirmations',
    text: `select (count(*) filter (where ${IS_COUNTED}))::integer as used,
                  (count(*) filter (where used_at is null))::integer as open
             from agent_confirmations where tenant_id = $1 and key_id = $2`,
    values: [tenant, keyId],
  });
  return rows[0]!;
}

/** Returns when it expires. */
export async function insertConfirmation(
  tx: Tx,
  { tenant, keyId }: Agent,
  { hash, argumentsHash, tool, seconds }: StoredConfirmation & { readonly seconds: number },
): Promise<Date> {
  const { rows } = await tx.query<{ expiresAt: Date }>({
    name: 'insert-confirmation',
    text: `insert into agent_confirmations (tenant_id, key_id, hash, tool, arguments_hash, expires_at)
           values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6)) returning expires_at as "expiresAt"`,
    values: [tenant, keyId, hash, tool, argumentsHash, seconds],
  });
  return rows[0]!.expiresAt;
}

/** Returns whether it could be used. */
export async function markConfirmationUsed(
  tx: Tx,
  { tenant, keyId }: Agent,
  { hash, argumentsHash, tool }: StoredConfirmation,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'mark-confirmation-used',
    text: `update agent_confirmations set used_at = now()
            where tenant_id = $1 and key_id = $2 and hash = $3 and tool = $4 and arguments_hash = $5
              and used_at is null and expires_at > now()`,
    values: [tenant, keyId, hash, tool, argumentsHash],
  });
  return rowCount === 1;
}
