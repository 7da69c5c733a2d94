/** When the sweep looks at a room, and what it does there besides marking who has left. */
import { beforeEach, describe, expect, inject, test } from 'vitest';
import type { Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import {
  enterAlone,
  enterIn,
  renewAlone,
  renewIn,
} from '../../../src/control/admission/admission-forms.sql.ts';
import { openFirstRoom } from '../../../src/control/admission/open-first-room.sql.ts';
import { findDueRooms, markExpired, postponeLapses } from '../../../src/control/rooms/lapses.sql.ts';
import { removeDevices } from '../../../src/control/rooms/remove-device.sql.ts';
import { newAdmission } from '../../support/admissions.ts';
import { useDatabase } from '../../support/database.ts';
import { noteEarlierLapses } from '../../support/lapses.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
let tenant: TenantId;
let roomUid: string;

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
  roomUid = (await openFirstRoom(database.pool, tenant, 'lobby'))!.uid;
});

const admissionOf = (username: string, lifetimeSeconds: number, thumbprint = username) =>
  newAdmission({ tenant, roomUid, username, thumbprint, lifetimeSeconds });
const enter = (username: string, lifetimeSeconds = 600, thumbprint?: string) =>
  enterAlone(database.pool, admissionOf(username, lifetimeSeconds, thumbprint));
async function lapse(username: string): Promise<void> {
  await database.pool.query(
    `update participants set expires_at = now() - interval '1 second' where tenant_id = $1 and username = $2`,
    [tenant, username],
  );
  await noteEarlierLapses(database.pool, tenant);
}
const postpone = () => inTransaction(database.pool, (tx) => postponeLapses(tx, tenant, [roomUid]));
const isDue = async () => (await findDueRooms(database.pool, 1_000)).some((room) => room.roomUid === roomUid);

/** Seconds until the room is looked at again; `undefined`: it is not. */
async function dueIn(): Promise<number | undefined> {
  const { rows } = await database.pool.query<{ seconds: number }>(
    `select round(extract(epoch from due_at - now()))::integer as seconds from room_lapses
      where tenant_id = $1 and room_uid = $2`,
    [tenant, roomUid],
  );
  return rows[0]?.seconds;
}
const around = (seconds: number) => expect.toSatisfy((value: number) => Math.abs(value - seconds) <= 10);

describe('the time of the next look at a room', () => {
  test('is the end of the token that ends first', async () => {
    expect(await dueIn()).toBeUndefined();
    await enter('ann', 600);
    expect(await dueIn()).toEqual(around(600));
    await enter('bob', 60);
    expect(await dueIn()).toEqual(around(60));
    await enter('cem', 300);
    expect(await dueIn()).toEqual(around(60));
  });

  test('does not change with a renewal, and the look moves it', async () => {
    await enter('ann', 60);
    await renewAlone(database.pool, admissionOf('ann', 600));
    expect(await dueIn()).toEqual(around(60));
    expect(await postpone()).toBe(1);
    expect(await dueIn()).toEqual(around(600));
  });

  test('is earlier once a user keeps only a device whose token ends earlier', async () => {
    await enter('ann', 60, 'phone');
    await enter('ann', 600, 'kiosk');
    await postpone();
    expect(await dueIn()).toEqual(around(600));
    await inTransaction(database.pool, (tx) =>
      removeDevices(tx, tenant, roomUid, { thumbprint: 'kiosk' }, ['ann']),
    );
    expect(await dueIn()).toEqual(around(60));
  });

  test('is that of a user who returns', async () => {
    await enter('ann');
    await enter('bob', 60);
    await lapse('bob');
    await inTransaction(database.pool, (tx) => markExpired(tx, tenant, [roomUid], 10));
    await postpone();
    expect(await dueIn()).toEqual(around(600));
    await enter('bob', 60);
    expect(await dueIn()).toEqual(around(60));
  });

  test('ends when nobody is left', async () => {
    await enter('ann');
    await lapse('ann');
    expect(await isDue()).toBe(true);
    await inTransaction(database.pool, (tx) => markExpired(tx, tenant, [roomUid], 10));
    expect(await postpone()).toBe(1);
    expect(await dueIn()).toBeUndefined();
  });
});

describe('a room stays due', () => {
  test('while somebody there has lapsed', async () => {
    await enter('ann');
    await enter('bob');
    await lapse('bob');
    expect(await postpone()).toBe(0);
    expect(await isDue()).toBe(true);
  });

  test('while somebody enters it, whom the look cannot see yet', async () => {
    await enter('ann', 600);
    await lapse('ann');
    await inTransaction(database.pool, async (tx) => {
      // The room is due already, so this changes no time.
      await enterIn(tx, admissionOf('bob', 60));
      await inTransaction(database.pool, (sweep) => markExpired(sweep, tenant, [roomUid], 10));
      expect(await postpone()).toBe(0);
    });
    expect(await postpone()).toBe(1);
    expect(await dueIn()).toEqual(around(60));
  });
});

describe('devices', () => {
  const devices = async () => {
    const { rows } = await database.pool.query<{ device: string }>(
      'select device from admissions where tenant_id = $1 order by device',
      [tenant],
    );
    return rows.map(({ device }) => device);
  };

  test('of a user who lapsed are deleted', async () => {
    await enter('ann');
    await enter('bob');
    await lapse('bob');
    await inTransaction(database.pool, (tx) => markExpired(tx, tenant, [roomUid], 10));
    expect(await devices()).toStrictEqual(['ann']);
  });

  test('of a user who is present are deleted a day after their token expired', async () => {
    for (const device of ['new', 'recent', 'old']) await enter('ann', 600, device);
    await database.pool.query(
      `update admissions set expires_at = now() - make_interval(hours => case when device = 'old' then 25 else 23 end)
        where tenant_id = $1 and device <> 'new'`,
      [tenant],
    );
    await postpone();
    expect(await devices()).toStrictEqual(['new', 'recent']);
  });
});

// The counters are those of the server that the test is connected to.
test.skipIf(inject('citusServers').length > 0)(
  'a renewal updates two rows in place, without an index entry',
  async () => {
    await enter('ann');
    const updates = async (tx: Tx) => {
      const { rows } = await tx.query<{ all: bigint; inPlace: bigint }>(
        'select sum(n_tup_upd)::bigint as all, sum(n_tup_hot_upd)::bigint as "inPlace" from pg_stat_xact_user_tables',
      );
      return rows[0]!;
    };
    await inTransaction(database.pool, async (tx) => {
      const before = await updates(tx);
      await renewIn(tx, admissionOf('ann', 900));
      const after = await updates(tx);
      expect([after.all - before.all, after.inPlace - before.inPlace]).toStrictEqual([2n, 2n]);
    });
  },
);
