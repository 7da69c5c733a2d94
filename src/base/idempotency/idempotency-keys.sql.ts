/** SQL of `idempotency_keys`. */
import type { Db, Tx } from '../db/pool.ts';
import type { TenantId } from '../tenants/tenant.ts';

export interface KeptAnswer {
  readonly requestHash: Buffer;
  /** Sealed. */
  readonly answer: Buffer;
}

/**
 * Take a key for this transaction. Where another transaction has taken it, this waits for its end;
 * what that one answered, if it answered, is returned.
 *
 * The update changes nothing. It finds the answer in the same statement, so that nobody can forget the
 * key between a look and the work.
 */
export async function takeKey(
  tx: Tx,
  tenant: TenantId,
  key: string,
  requestHash: Buffer,
): Promise<KeptAnswer | undefined> {
  const { rows } = await tx.query<{ kept: Buffer; answer: Buffer | null }>(
    `insert into idempotency_keys (tenant_id, key, request_hash) values ($1, $2, $3)
     on conflict (tenant_id, key) do update set key = excluded.key
     returning request_hash as kept, answer`,
    [tenant, key, requestHash],
  );
  const { kept, answer } = rows[0]!;
  return answer === null ? undefined : { requestHash: kept, answer };
}

export async function keepAnswer(tx: Tx, tenant: TenantId, key: string, answer: Buffer): Promise<void> {
  await tx.query('update idempotency_keys set answer = $3 where tenant_id = $1 and key = $2', [
    tenant,
    key,
    answer,
  ]);
}

/** Forget some keys that are older than `hours`. Returns how many there were. */
export async function deleteOldKeys(db: Db, options: { hours: number; limit: number }): Promise<number> {
  const { rowCount } = await db.query(
    `delete from idempotency_keys where (tenant_id, key) in (
       select tenant_id, key from idempotency_keys
        where created_at < now() - make_interval(hours => $1) limit $2 for update skip locked)`,
    [options.hours, options.limit],
  );
  return rowCount ?? 0;
}
