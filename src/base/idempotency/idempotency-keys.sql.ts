/** SQL of `idempotency_keys`. */
import type { Statement } from '../db/pipeline.ts';
import type { Db, Tx } from '../db/pool.ts';
import { changeInShares } from '../tenants/shares.ts';
import type { TenantId } from '../tenants/tenant.ts';

export interface KeptAnswer {
  readonly requestHash: Buffer;
  /** Sealed. */
  readonly answer: Buffer;
}

/**
 * Lock a key until the transaction ends. If another transaction has locked it, wait for that one to end.
 *
 * For this transaction, plans do not read whole tables. Otherwise a plan that was made while no key was kept would
 * read all keys to find one.
 */
export function lockKey(tenant: TenantId, key: string): Statement {
  return {
    name: 'lock-key',
    text: `select pg_advisory_xact_lock(hashtextextended($2, $1)), set_config('enable_seqscan', 'off', true)`,
    values: [tenant, key],
  };
}

/** The answer that is kept for a locked key. `check` may throw if there is one. */
export function findKeptAnswer(
  tenant: TenantId,
  key: string,
  check: (rows: readonly KeptAnswer[]) => void = () => {},
): Statement<KeptAnswer> {
  return {
    name: 'find-kept-answer',
    text: `select request_hash as "requestHash", answer from idempotency_keys where tenant_id = $1 and key = $2`,
    values: [tenant, key],
    check,
  };
}

/** Keep the answer for a locked key that has none. */
export function keepAnswer(tenant: TenantId, key: string, { requestHash, answer }: KeptAnswer): Statement {
  return {
    name: 'keep-answer',
    text: 'insert into idempotency_keys (tenant_id, key, request_hash, answer) values ($1, $2, $3, $4)',
    values: [tenant, key, requestHash, answer],
  };
}

/** Keep another answer for a locked key that has one. */
export async function replaceAnswer(tx: Tx, tenant: TenantId, key: string, answer: Buffer): Promise<void> {
  await tx.query({
    name: 'replace-answer',
    text: 'update idempotency_keys set answer = $3 where tenant_id = $1 and key = $2',
    values: [tenant, key, answer],
  });
}

/** Forget a locked key, so that it can be used again. */
export async function deleteKey(tx: Tx, tenant: TenantId, key: string): Promise<void> {
  await tx.query({
    name: 'delete-key',
    text: 'delete from idempotency_keys where tenant_id = $1 and key = $2',
    values: [tenant, key],
  });
}

/** Delete up to `limit` keys that are older than `hours`. Returns how many were deleted. */
export function deleteOldKeys(
  db: Db,
  { hours, limit }: { readonly hours: number; readonly limit: number },
): Promise<number> {
  return changeInShares(db, {
    name: 'delete-old-keys',
    text: (share) => `delete from idempotency_keys where (tenant_id, key) in (
             select tenant_id, key from idempotency_keys
              where ${IS_OLD} ${share.and('tenant_id', 3)} limit $2 for update skip locked) ${share.and('tenant_id', 3)}`,
    table: 'idempotency_keys',
    where: IS_OLD,
    values: [hours],
    limit,
  });
}

const IS_OLD = 'created_at < now() - make_interval(hours => $1)';
