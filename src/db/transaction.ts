/** Transactions. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool, Tx } from './pool.ts';

const ATTEMPTS = 4;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/**
 * Run `work` in one transaction and commit it.
 *
 * Anything thrown rolls it back. A deadlock or a serialization failure is PostgreSQL's own request
 * to run the whole transaction again, so that is what happens, up to three times. A connection that
 * dies during COMMIT leaves the outcome unknown: that is thrown, never tried again from here.
 */
export async function inTransaction<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await once(pool, work);
    } catch (error) {
      const code = sqlState(error);
      const again = code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
      if (!again || attempt === ATTEMPTS) throw error;
      await wait(Math.random() * 20 * attempt);
    }
  }
}

async function once<T>(pool: Pool, work: (tx: Tx) => Promise<T>): Promise<T> {
  const tx = await pool.connect();
  let broken: Error | undefined;
  try {
    await tx.query('begin');
    const result = await work(tx);
    await tx.query('commit');
    return result;
  } catch (error) {
    // A connection that cannot even roll back must not go back to the pool.
    await tx.query('rollback').catch((fault: Error) => {
      broken = fault;
    });
    throw error;
  } finally {
    tx.release(broken);
  }
}

/** The SQLSTATE of a database error; `undefined` for anything else. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether `error` says that the unique constraint or index `name` holds the row already. */
export function violatesUnique(error: unknown, name: string): boolean {
  return sqlState(error) === '23505' && (error as { constraint?: string }).constraint === name;
}
