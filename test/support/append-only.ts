/** Changes that the service never makes: tests forge the past, and spoil what is kept for ever. */
import pg from 'pg';
import { expect } from 'vitest';
import { isDistributed } from '../../src/base/db/distribution.ts';
import type { Pool, Tx } from '../../src/base/db/pool.ts';
import { inTransaction } from '../../src/base/db/transaction.ts';
import type { TestDatabase } from './database.ts';

/** Run `work` as the owner of the tables while they take changes. Distributed tables always do from their owner. */
export async function withoutTriggers<T>(
  db: Pool,
  tables: readonly string[],
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const alter = async (tx: Tx, how: 'disable' | 'enable') => {
    if (isDistributed()) return;
    for (const table of tables) await tx.query(`alter table ${table} ${how} trigger user`);
  };
  return inTransaction(db, async (tx) => {
    await alter(tx, 'disable');
    const result = await work(tx);
    await alter(tx, 'enable');
    return result;
  });
}

/** SQL of a column's time, moved by an SQL interval. Distributed tables take no arithmetic that knows time zones. */
export function moved(column: string, by: string): string {
  return `(${column} at time zone 'UTC' + interval '${by}') at time zone 'UTC'`;
}

/**
 * The change of `table` is refused, because it is append-only: by a trigger or, where tables are distributed, because the
 * role of the service has no right to it.
 */
export async function expectAppendOnly(
  database: TestDatabase,
  table: string,
  change: string,
  values: readonly unknown[] = [],
): Promise<void> {
  const distributed = isDistributed();
  const client = new pg.Client(distributed ? database.applicationUrl : database.url);
  await client.connect();
  try {
    const refused = expect(client.query(change, [...values])).rejects;
    await refused.toThrow(distributed ? `permission denied for table ${table}` : `${table} is append-only`);
  } finally {
    await client.end();
  }
}
