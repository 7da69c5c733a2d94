/** The limit of live rooms. What else creation does is tested with `CreateRoom`. */
import { beforeEach, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { createRoom } from '../../../src/control/rooms/create-room.ts';
import { endRoomByName } from '../../../src/control/rooms/end-room.ts';
import { DEFAULT_POLICY } from '../../../src/control/rooms/room.ts';
import { useDatabase } from '../../support/database.ts';
import { callerOf, makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
let tenant: TenantId;

const create = (name: string, rooms = 2) =>
  inTransaction(database.pool, (tx) =>
    createRoom(tx, callerOf(tenant, { limits: { rooms } }), { name, policy: DEFAULT_POLICY, metadata: '' }),
  );
const end = (name: string) =>
  inTransaction(database.pool, (tx) => endRoomByName(tx, tenant, { name, actor: undefined }));
const FULL = { kind: 'quota_exceeded', message: 'limit reached: at most 2 live rooms' };

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
});

describe('the limit of live rooms', () => {
  test('of concurrent creations for the last place, one succeeds', async () => {
    await create('first');
    const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => create(name)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject(FULL);
  });

  test('a room that ends makes room, also for its own name', async () => {
    await create('first');
    await create('second');
    await expect(create('third')).rejects.toMatchObject(FULL);
    await end('first');
    await create('first');
    await expect(create('third')).rejects.toMatchObject(FULL);
  });

  test('an existing room is reported before the limit', async () => {
    await create('first');
    await create('second');
    await expect(create('first')).rejects.toMatchObject({ kind: 'room_exists' });
  });
});
