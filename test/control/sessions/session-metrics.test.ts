/** How far sessions are behind the charges, as operators see it. */
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { assignNext } from '../../../src/control/sessions/assign-usage.ts';
import { measureSessions, sessionMetrics } from '../../../src/control/sessions/session-metrics.ts';
import { pass } from '../../money/grants/support.ts';
import { useDatabase } from '../../support/database.ts';
import { post } from '../../support/months.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

test('is the age of the oldest charge that is not assigned, of all tenants', async () => {
  const db = database.pool;
  const metrics = sessionMetrics(new Registry());
  const measured = async () => {
    await measureSessions({ db, metrics });
    return (await metrics.sessionsLag.get()).values[0]!.value;
  };
  expect(await measured()).toBe(0);
  const [one, other] = [await makeTenant(db), await makeTenant(db)];
  for (const tenant of [one, one, other]) {
    await post(db, tenant, { kind: 'adjustment', amount: 5n });
  }
  await pass(db, one, 2);
  await pass(db, other, 1);
  expect(await measured()).toBeCloseTo(2 * 86_400, -2);
  await assignNext(db, one);
  expect(await measured()).toBeCloseTo(86_400, -2);
  await assignNext(db, other);
  expect(await measured()).toBe(0);
});
