/** Whose usage is assigned to sessions next. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { makeLog } from '../../../src/base/telemetry/log.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { TenantTurns } from '../../../src/base/tenants/tenant-turns.ts';
import { assignUsage } from '../../../src/control/sessions/assign-usage.ts';
import { findBehind } from '../../../src/control/sessions/session-cursors.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { post } from '../../support/months.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

async function makeWaiting(status: 'pending' | 'active', turnedAt: string): Promise<TenantId> {
  const tenant = await makeTenant(database.pool, { status });
  await post(database.pool, tenant, { kind: 'adjustment', amount: 5n });
  await database.pool.query('insert into session_cursors (tenant_id, turned_at) values ($1, $2)', [
    tenant,
    turnedAt,
  ]);
  return tenant;
}

test('tenants that paid and those that never did take turns, the one with the oldest turn first', async () => {
  const free: TenantId[] = [];
  for (const day of [1, 2, 3, 4]) free.push(await makeWaiting('pending', `2026-01-0${day}T00:00:00Z`));
  const late = await makeWaiting('active', '2026-02-02T00:00:00Z');
  const early = await makeWaiting('active', '2026-02-01T00:00:00Z');
  const order = [early, free[0], late, free[1], free[2], free[3]];
  expect(await findBehind(database.pool, 'all accounts', 10, [])).toEqual(order);
  expect(await findBehind(database.pool, 'all accounts', 3, [])).toEqual(order.slice(0, 3));
  expect(await findBehind(database.pool, 'all accounts', 2, [order[0]!])).toHaveLength(2);
  expect(await findBehind(database.pool, 'all accounts', 10, [order[0]!])).not.toContain(order[0]);
});

test('a tenant that paid does not wait for all that never did and were there before', async () => {
  const free: TenantId[] = [];
  while (free.length < 8) {
    const tenant = await makeTenant(database.pool);
    await post(database.pool, tenant, { kind: 'adjustment', amount: 5n });
    free.push(tenant);
  }
  const blocker = await database.pool.connect();
  onTestFinished(() => blocker.release());
  await blocker.query('begin');
  // The turns of both lanes wait to insert theirs.
  await blocker.query('insert into session_cursors (tenant_id) select * from unnest($1::bigint[])', [free]);
  const log = makeLog('silent');
  const turns = new TenantTurns(log, 'assigning usage');
  const take = vi.spyOn(turns, 'take');
  const assigned = assignUsage({ db: database.pool, log }, 'all accounts', undefined, turns);
  await vi.waitFor(async () => expect(await countLockWaiters(database.pool)).toBe(2), 60_000);
  const paying = await makeWaiting('active', '2026-01-01T00:00:00Z');
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 10_000);
  onTestFinished(() => void vi.restoreAllMocks());
  await blocker.query('rollback');
  await assigned;
  // Not by the times of their transactions: one of them may have to open a connection.
  const order = take.mock.calls.map(([tenant]) => tenant).filter((each) => [...free, paying].includes(each));
  expect(order).toHaveLength(free.length + 1);
  expect(order.indexOf(paying)).toBeLessThan(4);
});
