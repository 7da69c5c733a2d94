import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { Watchdog_Action } from '@boxoffice/contract/watchdog';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import { expect, test } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { lookAtDue } from '../../../src/control/watchdogs/watch.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);
const CROWD = 10_000;

/** A live room of a new tenant, with `CROWD` participants present. */
async function crowdedRoom() {
  const tenant = await app.signUp();
  const of = controlOf(tenant);
  const { room } = await of.call(RoomService.method.createRoom, { room: 'hall' });
  const { db } = app.service.deps;
  const values = [parseTenantId(tenant.id), room!.uid, CROWD];
  await db.query(
    `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
     select $1, $2, 'user-' || n, 'user-' || n, 'audience', 20, '{chat.send}', now() + interval '10 minutes'
       from generate_series(1, $3::integer) n`,
    values,
  );
  await db.query(
    `insert into admissions
       (tenant_id, room_uid, username, device, role, rank, capabilities, key_id, expires_at)
     select $1, $2, 'user-' || n, 'device', 'audience', 20, '{chat.send}', 'key', now() + interval '10 minutes'
       from generate_series(1, $3::integer) n`,
    values,
  );
  const count = async (text: string) => {
    await numberEvents(db, [idOf(tenant)]);
    return Number(
      (await db.query(`select count(*) from ${text} and tenant_id = $1`, [values[0]])).rows[0].count,
    );
  };
  return { of, count };
}

const PRESENT = 'participants where left_at is null';
const LEFT = `events where type = 'participant_left'`;

test('a room of ten thousand participants ends within the deadline of a call', async () => {
  const { of, count } = await crowdedRoom();
  await of.call(RoomService.method.endRoom, { room: 'hall' });
  expect([await count(PRESENT), await count(LEFT), await count('admissions where true')]).toStrictEqual([
    0,
    CROWD,
    0,
  ]);
});

test('a watchdog kicks ten thousand participants', async () => {
  const { of, count } = await crowdedRoom();
  await of.call(WatchdogService.method.createWatchdog, {
    watchdog: {
      room: 'hall',
      condition: { case: 'maxDuration', value: { seconds: 1n } },
      action: Watchdog_Action.KICK,
    },
  });
  await app.service.deps.db.query(
    `update rooms set created_at = now() - interval '1 hour' where name = 'hall'`,
  );
  await app.service.deps.db.query(`update watchdogs set check_at = now()`);
  await lookAtDue(app.service.deps);
  await expect.poll(() => count(PRESENT)).toBe(0);
  expect(await count(LEFT)).toBe(CROWD);
  const { events } = await of.call(ModerationService.method.listModerationEvents, { pageSize: 500 });
  expect(events).toHaveLength(500);
});
