import { expect, test } from 'vitest';
import {
  findOperatorLink,
  insertOperatorLink,
  takeOperatorLink,
} from '../../../src/access/operators/operator-sessions.sql.ts';
import { newSecret } from '../../../src/access/sessions/session.ts';
import type { Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { useDatabase } from '../../support/database.ts';

const database = useDatabase();
const inTx = <T>(work: (tx: Tx) => Promise<T>) => inTransaction(database.pool, work);

test('a link works once, and no other link ends with it', async () => {
  const [ann, bob] = [newSecret().hash, newSecret().hash];
  await insertOperatorLink(database.pool, ann, 'ann');
  await insertOperatorLink(database.pool, bob, 'bob');
  const take = (hash: Buffer) => inTx((tx) => takeOperatorLink(tx, hash));
  expect([await take(bob), await take(bob), await take(ann)]).toEqual(['bob', undefined, 'ann']);
});

test('a link works for less than five minutes', async () => {
  const { hash } = newSecret();
  // The clock of a transaction stands still.
  await inTx(async (tx) => {
    const pass = (time: string) =>
      tx.query('update operator_links set expires_at = expires_at - $1::interval', [time]);
    await insertOperatorLink(tx, hash, 'ann');
    await pass('299 seconds');
    expect(await findOperatorLink(tx, hash)).toBe('ann');
    await pass('1 second');
    expect([await findOperatorLink(tx, hash), await takeOperatorLink(tx, hash)]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
