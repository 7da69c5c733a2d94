/** SQL of `idempotency_keys`. */
import type { Db, Tx } from '../db/pool.ts';
import type { TenantId } from '../tenants/tenant.ts';

export interface KeptAnswer {
  readonly requestHash: Buffer;
  /** Sealed. */
  readonly answer: Buffer;
}

/**
 * Take a key for this transaction. If another transaction holds it, wait for that one to end. Returns
 * the kept answer, if there is one.
 *
 * The update changes nothing. It reads the answer in the same statement, so that the cleanup cannot
 * delete the key between a look-up and the work.
 */
export async function takeKey(
  tx: Tx,
  tenant: TenantId,
  key: string,
  requestHash: Buffer,
): Promise<KeptAnswer | undefined> {
  const { rows } = await tx.query<{ kept: Buffer; answer: Buffer | null }>({
    name: 'take-key',
    text: `insert into idempotency_keys (tenant_id, key, request_hash) values ($1, $2, $3)
           on conflict (tenant_id, key) do update set key = excluded.key
           returning request_hash as kept, answer`,
    values: [tenant, key, requestHash],
  });
  const { kept, answer } = rows[0]!;
  return answer === null ? undefined : { requestHash: kept, answer };
}

export async function keepAnswer(tx: Tx, tenant: TenantId, key: string, answer: Buffer): Promise<void> {
  await tx.query({
    name: 'keep-answer',
    text: 'update idempotency_keys set answer = $3 where tenant_id = $1 and key = $2',
    values: [tenant, key, answer],
  });
}

/** Delete up to `limit` keys that are older than `hours`. Returns how many were deleted. */
export async function deleteOldKeys(db: Db, options: { hours: number; limit: number }): Promise<number> {
  const { rowCount } = await db.query({
    name: 'delete-old-keys',
    text: `delete from idempotency_keys where (tenant_id, key) in (
             select tenant_id, key from idempotency_keys
              where created_at < now() - make_interval(hours => $1) limit $2 for update skip locked)`,
    values: [options.hours, options.limit],
  });
  return rowCount ?? 0;
}
