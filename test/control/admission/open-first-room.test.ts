import { beforeEach, expect } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { openFirstRoomInPlace } from '../../../src/control/admission/open-first-room.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { openHolder } from '../../support/holder.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { testOneServer, testStepForms } from '../../support/step-forms.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const MAX = 10;
let tenant: TenantId;
let other: TenantId;

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
  other = await makeTenant(database.pool);
});

const open = (name: string) =>
  openFirstRoomInPlace(database.pool, { id: tenant, status: 'active', limits: { rooms: MAX } }, name);

const leave = (of: TenantId, limit: string, free: number) =>
  database.pool.query(
    'insert into tenant_places (tenant_id, limit_name, max, free) values ($1, $2, $3, $4)',
    [of, limit, MAX, free],
  );

async function freePlaces(): Promise<number[]> {
  const { rows } = await database.pool.query<{ free: number }>(
    'select free from tenant_places where tenant_id in ($1, $2) order by tenant_id <> $1, limit_name',
    [tenant, other],
  );
  return rows.map(({ free }) => free);
}

testOneServer('a room takes the last place of its tenant', async () => {
  await leave(tenant, 'rooms', 1);
  await leave(tenant, 'watchdogs', 2);
  await leave(other, 'rooms', 3);
  expect(await open('lobby')).toMatch(/^rm_/);
  expect(await open('stage')).toBeUndefined();
  expect(await freePlaces()).toEqual([0, 2, 3]);
});

testOneServer('no room is opened where the places were not counted', async () => {
  await leave(tenant, 'watchdogs', 2);
  await leave(other, 'rooms', 3);
  expect(await open('lobby')).toBeUndefined();
  expect(await freePlaces()).toEqual([2, 3]);
});

testOneServer('no room is opened under a limit that was changed meanwhile', async () => {
  await leave(tenant, 'rooms', 1);
  const holder = await openHolder(database.pool);
  await holder.query('update tenant_places set max = $2 where tenant_id = $1', [tenant, MAX + 1]);
  const opened = open('lobby');
  await expect.poll(() => countLockWaiters(database.pool)).toBe(1);
  await holder.query('commit');
  expect(await opened).toBeUndefined();
  expect(await freePlaces()).toEqual([1]);
});

testStepForms('no room is opened in one statement', async () => {
  await leave(tenant, 'rooms', 1);
  expect(await open('lobby')).toBeUndefined();
});
