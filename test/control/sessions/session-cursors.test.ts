/** Whose usage is assigned to sessions next. */
import { expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { findBehind } from '../../../src/control/sessions/session-cursors.sql.ts';
import { useDatabase } from '../../support/database.ts';
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
