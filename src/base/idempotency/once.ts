/**
 * Mutations that take effect once, however often they are sent.
 *
 * One transaction stores the key, the effect and the answer. A retry after a lost answer finds the
 * answer; a retry after a lost transaction does the work. A failure is not kept: it had no effect.
 *
 * Nearly every key is new. So lock, look-up and the first statement of the work are one round trip, and so are key
 * and commit. If there is an answer, that statement is rolled back.
 */
import { createHash } from 'node:crypto';
import type { Pool, Tx } from '../db/pool.ts';
import { inTransaction } from '../db/transaction.ts';
import { Failure } from '../failure.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import { renderTenantId, type TenantId } from '../tenants/tenant.ts';
import { findKeptAnswer, type KeptAnswer, keepAnswer, lockKey } from './idempotency-keys.sql.ts';

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

/**
 * Run `work` in a transaction, or return what it returned the first time. For a key that has an answer, the first
 * statement of `work` may run and be rolled back. So `work` changes nothing outside the transaction.
 */
export async function once(
  deps: OnceDeps,
  { tenant, key, method, request }: Mutation,
  work: (tx: Tx) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (key === undefined) return inTransaction(deps.db, work);

  const requestHash = createHash('sha256').update(`${method}\n`).update(request).digest();
  const context = `${renderTenantId(tenant)} ${key}`;
  const seal = (answer: Uint8Array) => deps.box.seal(Buffer.from(answer), context);
  try {
    return await inTransaction(deps.db, work, {
      first: [lockKey(tenant, key), findKeptAnswer(tenant, key, throwKept)],
      last: (answer) => [keepAnswer(tenant, key, { requestHash, answer: seal(answer) })],
    });
  } catch (error) {
    if (!(error instanceof Kept)) throw error;
    if (!error.kept.requestHash.equals(requestHash))
      throw new Failure('idempotency_key_reused', { field: 'idempotency_key' });
    return deps.box.open(error.kept.answer, context);
  }
}

/** Ends the transaction of a key that has an answer. */
class Kept extends Error {
  readonly kept: KeptAnswer;

  constructor(kept: KeptAnswer) {
    super('the key has an answer');
    this.kept = kept;
  }
}

function throwKept([kept]: readonly KeptAnswer[]): void {
  if (kept) throw new Kept(kept);
}
