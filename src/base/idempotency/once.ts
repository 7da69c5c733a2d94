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
  /**
   * What the caller may do, as far as answers depend on it: one that may do something else gets no answer of another.
   * Empty: what callers may do who were not limited.
   */
  readonly rights: string;
  /** Rights within these, whose answers this caller gets too. */
  readonly lesserRights?: string;
  /** The request without the key; equal requests have equal bytes. */
  readonly request: Uint8Array;
}

/** Work without a key, which is done by each call. */
export function notRepeated(tenant: TenantId): Mutation {
  return { tenant, key: undefined, method: '', rights: '', request: Buffer.of() };
}

/**
 * Run `work` in a transaction, or return what it returned the first time. For a key that has an answer, the first
 * statement of `work` may run and be rolled back. So `work` changes nothing outside the transaction.
 */
export async function once(
  deps: OnceDeps,
  mutation: Mutation,
  work: (tx: Tx) => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const { tenant, key } = mutation;
  if (key === undefined) return inTransaction(deps.db, work);

  try {
    return await inTransaction(deps.db, work, {
      first: [lockKey(tenant, key), findKeptAnswer(tenant, key, throwKept)],
      last: (answer) => [keepAnswer(tenant, key, sealAnswer(deps, mutation, answer))],
    });
  } catch (error) {
    if (error instanceof Kept) return openAnswer(deps, mutation, error.kept);
    throw error;
  }
}

/** What is kept for a mutation with a key. */
export function sealAnswer(deps: Pick<OnceDeps, 'box'>, mutation: Mutation, answer: Uint8Array): KeptAnswer {
  return {
    requestHash: hashOf(mutation),
    answer: deps.box.seal(Buffer.from(answer), contextOf(mutation)),
  };
}

/** Fails with `idempotency_key_reused` if the answer is that of another request, or of a caller with other rights. */
export function openAnswer(deps: Pick<OnceDeps, 'box'>, mutation: Mutation, kept: KeptAnswer): Buffer {
  const { rights, lesserRights = rights } = mutation;
  const isKeptFor = (given: string) => kept.requestHash.equals(hashOf({ ...mutation, rights: given }));
  if (!isKeptFor(rights) && !isKeptFor(lesserRights))
    throw new Failure('idempotency_key_reused', { field: 'idempotency_key' });
  return deps.box.open(kept.answer, contextOf(mutation));
}

function hashOf({ method, rights, request }: Mutation): Buffer {
  const head = rights === '' ? method : `${method} ${rights}`;
  return createHash('sha256').update(`${head}\n`).update(request).digest();
}

/** What an answer is sealed for. */
export function contextOf({ tenant, key }: Pick<Mutation, 'tenant' | 'key'>): string {
  return `${renderTenantId(tenant)} ${key}`;
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
