/** A transaction that holds locks while a test looks at what waits for them. */
import { onTestFinished } from 'vitest';
import type { Pool, Tx } from '../../src/base/db/pool.ts';

export interface Holder {
  query: Tx['query'];
  /** Rolls back. A test that fails before this is rolled back when it ends. */
  release(): Promise<void>;
}

export async function openHolder(pool: Pool): Promise<Holder> {
  const tx = await pool.connect();
  let isOpen = true;
  const release = async () => {
    if (!isOpen) return;
    isOpen = false;
    await tx.query('rollback').then(
      () => tx.release(),
      (error: Error) => tx.release(error),
    );
  };
  onTestFinished(release);
  await tx.query('begin');
  return { query: tx.query.bind(tx) as Tx['query'], release };
}
