/** The limits of waiting watchdogs. What else creation does is tested with `CreateWatchdog`. */
import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { LimitOverrides } from '../../../src/base/tenants/limits.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { endRoom } from '../../../src/control/rooms/end-room.ts';
import type { Room } from '../../../src/control/rooms/room.ts';
import { createWatchdog } from '../../../src/control/watchdogs/create-watchdog.ts';
import { deleteWatchdog } from '../../../src/control/watchdogs/delete-watchdog.ts';
import type { WatchdogCondition } from '../../../src/control/watchdogs/watchdog.ts';
import { useDatabase } from '../../support/database.ts';
import { callerOf, makeTenant } from '../../support/tenants.ts';
import { makeRoom } from './support.ts';

const database = useDatabase();
let tenant: TenantId;
let room: Room;

const create = (condition: WatchdogCondition, limits: LimitOverrides, { name } = room) =>
  inTransaction(database.pool, (tx) => {
    const rule = { condition, durationMs: 60_000, action: 'notify', warnBeforeMs: 0 } as const;
    return createWatchdog(tx, callerOf(tenant, { limits }), { room: name, rule, actor: undefined });
  });
const remove = ({ id }: { id: string }) =>
  inTransaction(database.pool, (tx) => deleteWatchdog(tx, callerOf(tenant), { id, actor: undefined }));

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
  room = await makeRoom(database.pool, tenant);
});

describe('the limit of waiting watchdogs of a room', () => {
  const limits = { room_watchdogs: 2 };
  const full = { kind: 'quota_exceeded', message: 'limit reached: at most 2 waiting watchdogs of one room' };

  test('of concurrent creations for the last place, one succeeds', async () => {
    await create('max_duration', limits);
    const conditions = ['unused_for', 'empty_for', 'host_absent_for', 'alone_for'] as const;
    const results = await Promise.allSettled(conditions.map((each) => create(each, limits)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject(full);
  });

  test('is of one room, and a deleted watchdog makes room', async () => {
    await create('max_duration', limits);
    const second = await create('empty_for', limits);
    await expect(create('alone_for', limits)).rejects.toMatchObject(full);
    await create('alone_for', limits, await makeRoom(database.pool, tenant));
    await remove(second);
    await create('alone_for', limits);
  });

  test('does not count watchdogs that fired', async () => {
    for (let count = 0; count < 4; count += 1) {
      const { id } = await create('max_duration', limits);
      await database.pool.query(
        `update watchdogs set state = 'fired', fired_at = now(), check_at = null where tenant_id = $1 and id = $2`,
        [tenant, id],
      );
    }
  });
});

describe('the limit of waiting watchdogs of a tenant', () => {
  const limits = { watchdogs: 3 };
  const full = { kind: 'quota_exceeded', message: 'limit reached: at most 3 waiting watchdogs' };

  test('of concurrent creations in several rooms, as many succeed as there are places', async () => {
    const rooms = await Promise.all(Array.from({ length: 6 }, () => makeRoom(database.pool, tenant)));
    const results = await Promise.allSettled(rooms.map((each) => create('empty_for', limits, each)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject(full);
  });

  test('does not count watchdogs of rooms that have ended', async () => {
    const other = await makeRoom(database.pool, tenant);
    for (const condition of ['max_duration', 'empty_for', 'alone_for'] as const) {
      await create(condition, limits, other);
    }
    await expect(create('empty_for', limits)).rejects.toMatchObject(full);
    await inTransaction(database.pool, (tx) => endRoom(tx, tenant, other, 'ended'));
    await create('empty_for', limits);
  });
});
