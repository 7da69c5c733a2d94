import { RoomService } from '@boxoffice/contract/room_service';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseTenantId, type TenantId } from '../../../src/base/tenants/tenant.ts';
import { markExpired } from '../../../src/control/rooms/lapses.sql.ts';
import { expel } from '../../../src/control/rooms/participants.sql.ts';
import { tellExpiredParticipants } from '../../../src/control/rooms/tell-expired-participants.ts';
import { lapse, mint, newThumbprint, toldOf } from '../../doors/grpc/mint.ts';
import { type TestControl, useControl } from '../../support/grpc.ts';
import { noteEarlierLapses } from '../../support/lapses.ts';
import { type TestTenant, useService } from '../../support/service.ts';

const app = useService();
const controlOf = useControl(app);
let tenant: TestTenant;
let id: TenantId;
let control: TestControl;
let roomUid: string;

beforeEach(async () => {
  tenant = await app.paidTenant();
  id = parseTenantId(tenant.id)!;
  control = controlOf(tenant);
  roomUid = (await control.call(RoomService.method.createRoom, { room: 'lobby' })).room!.uid;
});

const left = () =>
  app.service.deps.db.query<{ username: string; atExpiry: boolean; reason: string }>(
    `select username, left_at = expires_at as "atExpiry", leave_reason as reason from participants
      where tenant_id = $1 and left_at is not null order by username`,
    [id],
  );

/** Participants who are present, without tokens. */
async function insertMany(count: number, expiresAt: string): Promise<void> {
  const { db } = app.service.deps;
  await db.query(
    `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
     select $1, $2, 'user' || n, 'user' || n, 'audience', 20, '{}', ${expiresAt} from generate_series(1, $3) n`,
    [id, roomUid, count],
  );
  await noteEarlierLapses(db, id);
}

describe('a participant whose last token expired', () => {
  test('gets participant_left from the sweep, which wakes the watchdogs of the room', async () => {
    const { db } = app.service.deps;
    await mint(control, { username: 'ann' });
    await mint(control, { username: 'bob' });
    await db.query(
      `insert into watchdogs (tenant_id, id, room_uid, condition, duration_ms, action, check_at)
       values ($1, 'wd_1', $2, 'empty_for', 86400000, 'notify', null)`,
      [id, roomUid],
    );
    await lapse(app, tenant, { username: 'ann' });
    await expect.poll(() => toldOf(app, tenant)).toStrictEqual(['entered ann', 'entered bob', 'left ann']);
    expect((await left()).rows).toStrictEqual([{ username: 'ann', atExpiry: true, reason: 'expired' }]);
    const { rows: woken } = await db.query(
      'select 1 from watchdogs where tenant_id = $1 and check_at is not null',
      [id],
    );
    expect(woken).toHaveLength(1);
    const { rows } = await db.query(
      `select e.room_uid = $2 as "ofRoom", e.subject->>'leaveReason' as reason, e.subject->'devices' as devices,
              (e.subject->>'leftAt')::timestamptz = date_trunc('milliseconds', p.left_at) as "atOnce"
         from events e, participants p
        where e.tenant_id = $1 and e.type = 'participant_left' and p.tenant_id = $1 and p.username = 'ann'`,
      [id, roomUid],
    );
    expect(rows).toStrictEqual([{ ofRoom: true, reason: 'expired', devices: [], atOnce: true }]);
  });

  test('enters again with the next token', async () => {
    await mint(control);
    await lapse(app, tenant);
    await tellExpiredParticipants(app.service.deps);
    await mint(control);
    expect(await toldOf(app, tenant)).toStrictEqual(['entered ann', 'left ann', 'entered ann']);
    expect((await left()).rows).toStrictEqual([]);
  });
});

test('concurrent sweeps append each participant_left once', async () => {
  const another = await app.another();
  await insertMany(450, `now() - interval '1 second'`);
  const deps = [app.service.deps, another.service.deps];
  await Promise.all(Array.from({ length: 6 }, (_, index) => tellExpiredParticipants(deps[index % 2]!)));
  const events = () => toldOf(app, tenant);
  await expect.poll(async () => (await events()).length).toBe(450);
  expect(new Set(await events()).size).toBe(450);
  const { rows } = await app.service.deps.db.query<{ seq: bigint }>(
    'select seq from events where tenant_id = $1 order by seq',
    [id],
  );
  // One event is that of the room.
  expect(rows.map((row) => row.seq)).toStrictEqual(Array.from({ length: 451 }, (_, at) => BigInt(at + 1)));
});

describe('a renewal after the last token expired', () => {
  test('continues the presence if it comes before the sweep', async () => {
    const { db } = app.service.deps;
    await mint(control);
    const [renewal, sweep] = [await db.connect(), await db.connect()];
    const setExpiry = `update participants set expires_at = now() + $2::interval where tenant_id = $1`;
    try {
      // A sweep does not wait for a renewal.
      await renewal.query('begin');
      await renewal.query(setExpiry, [id, '-1 second']);
      expect(await markExpired(sweep, id, [roomUid], 10)).toStrictEqual([]);
      await renewal.query(setExpiry, [id, '10 minutes']);
      await renewal.query('commit');
      expect(await markExpired(sweep, id, [roomUid], 10)).toStrictEqual([]);
    } finally {
      renewal.release();
      sweep.release();
    }
    expect(await toldOf(app, tenant)).toStrictEqual(['entered ann']);
  });

  test('excludes a sweep: each participant_left is followed by participant_entered', async () => {
    const deviceThumbprint = newThumbprint();
    await mint(control, { deviceThumbprint });
    for (let round = 0; round < 40; round += 1) {
      await lapse(app, tenant);
      await Promise.all([
        mint(control, { deviceThumbprint }),
        tellExpiredParticipants(app.service.deps),
        mint(control, { deviceThumbprint }),
      ]);
    }
    const events = await toldOf(app, tenant);
    const expected = events.map((_, at) => (at % 2 === 0 ? 'entered ann' : 'left ann'));
    expect(events).toStrictEqual(expected);
    expect(events.at(-1)).toBe('entered ann');
    expect((await left()).rows).toStrictEqual([]);
  });
});

test('a participant who expired and is expelled before a sweep gets one participant_left, for expiry', async () => {
  const { db } = app.service.deps;
  const client = await db.connect();
  try {
    await mint(control, { username: 'ann' });
    await mint(control, { username: 'bob' });
    await client.query('begin');
    await client.query(
      `update participants set expires_at = now() - interval '1 second' where tenant_id = $1 and username = 'ann'`,
      [id],
    );
    const gone = await expel(client, id, roomUid, 'kicked');
    expect(gone.map(({ username, leaveReason }) => [username, leaveReason])).toStrictEqual([
      ['ann', 'expired'],
      ['bob', 'kicked'],
    ]);
    expect(await expel(client, id, roomUid, 'kicked')).toStrictEqual([]);
    await client.query('commit');
  } finally {
    client.release();
  }
  await tellExpiredParticipants(app.service.deps);
  expect(await toldOf(app, tenant)).toStrictEqual(['entered ann', 'entered bob']);
});
