import { expect, inject, test } from 'vitest';
import { newKey } from '../../../src/access/keys/api-key.ts';
import { insertKey, lockCeiling } from '../../../src/access/keys/keys.sql.ts';
import { TENANT_ROWS } from '../../../src/access/signup/open-tenant.ts';
import { transactOnce } from '../../../src/base/db/transaction.ts';
import { newTenantId } from '../../../src/base/tenants/tenant.ts';
import { insertTenant, lockTenant } from '../../../src/base/tenants/tenants.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { makeKey, makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

const isCluster = inject('citusServers').length > 0;

test.runIf(isCluster)('tenants that sign up at once do not wait for each other', async () => {
  const signUp = () =>
    transactOnce(database.pool, async (tx) => {
      const id = newTenantId();
      await insertTenant(tx, { id, name: 'Ada Video', email: 'ada@example.com' }, TENANT_ROWS);
      await insertKey(tx, id, { ...newKey('svc'), name: 'default', kind: 'backend' });
    });
  await Promise.all(Array.from({ length: 8 }, signUp));
});

test.runIf(isCluster)(
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
