import { expect, inject, test } from 'vitest';
import { newKey } from '../../../src/access/keys/api-key.ts';
import { insertKey, lockCeiling } from '../../../src/access/keys/keys.sql.ts';
import { transactOnce } from '../../../src/base/db/transaction.ts';
import { lockTenant } from '../../../src/base/tenants/tenants.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { makeKey, makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

test.runIf(inject('citusServers').length > 0)(
  'two transactions that change tables of all servers in another order do not wait for each other',
  async () => {
    const { pool } = database;
    const [one, other] = [await makeTenant(pool), await makeTenant(pool)];
    const { id } = await makeKey(pool, other, 'relay');
    let waiting: Promise<unknown> | undefined;
    await transactOnce(pool, async (tx) => {
      await lockTenant(tx, one);
      waiting = transactOnce(pool, (beside) => lockCeiling(beside, id));
      await expect.poll(() => countLockWaiters(pool)).toBeGreaterThan(0);
      await insertKey(tx, one, { ...newKey('svc'), name: 'a key', kind: 'relay' });
    });
    await waiting;
  },
);
