/**
 * Mutations that take effect once, however often they are sent.
 *
 * One transaction stores the key, the effect and the answer. A retry after a lost answer finds the
 * answer; a retry after a lost transaction does the work. A failure is not kept: it had no effect.
 */
import { createHash } from 'node:crypto';
import type { Pool, Tx } from '../db/pool.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { renderTenantId, type TenantId } from '../tenants/tenant.ts';
import { keepAnswer, takeKey } from './idempotency-keys.sql.ts';

/** How long answers are kept. */
export const KEPT_HOURS = 24;

export interface OnceDeps {
  readonly db: Pool;
  /** Encrypts the kept answers. */
  readonly box: SecretBox;
}

export interface Mutation {
  readonly tenant: TenantId;
  /** The caller's key; if `undefined`, every call does the work. */
  readonly key: string | undefined;
  readonly method: string;
  /** The request without the key; equal requests have equal bytes. */
  readonly request: Uint8Array;
}

/** Run `work` in a transaction, or return what it returned the first time. */
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
