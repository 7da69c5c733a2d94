/**
 * Mutations that are done once, however often they are asked for.
 *
 * The key, the effect and the answer are one transaction: either all of them are there or none is, so
 * a retry after a lost answer finds the answer, and a retry after a lost transaction does the work.
 * What failed is not kept: it had no effect.
 */
import { createHash } from 'node:crypto';
import type { Pool, Tx } from '../db/pool.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { renderTenantId, type TenantId } from '../tenants/tenant.ts';
import { keepAnswer, takeKey } from './idempotency-keys.sql.ts';

/** How long an answer can be had again. */
export const KEPT_HOURS = 24;

export interface OnceDeps {
  readonly db: Pool;
  /** Encrypts the answers that are kept. */
  readonly box: SecretBox;
}

export interface Mutation {
  readonly tenant: TenantId;
  /** The caller's; `undefined`: every call does the work. */
  readonly key: string | undefined;
  readonly method: string;
  /** The request without the key, in bytes that are the same whenever the request is. */
  readonly request: Uint8Array;
}

/** Run `work` in a transaction, or return the bytes that it returned the first time. */
export async function once(
  deps: OnceDeps,
  { tenant, key, method, request }: Mutation,
  work: (tx: Tx) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (key === undefined) return inTransaction(deps.db, work);

  const requestHash = createHash('sha256').update(`${method}\n`).update(request).digest();
  const context = `${renderTenantId(tenant)} ${key}`;
  return inTransaction(deps.db, async (tx) => {
    const kept = await takeKey(tx, tenant, key, requestHash);
    if (kept) {
      if (!kept.requestHash.equals(requestHash))
        throw new Failure('idempotency_key_reused', { field: 'idempotency_key' });
      return deps.box.open(kept.answer, context);
    }
    const answer = await work(tx);
    await keepAnswer(tx, tenant, key, deps.box.seal(Buffer.from(answer), context));
    return answer;
  });
}
