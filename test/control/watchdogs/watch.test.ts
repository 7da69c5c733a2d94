import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openPool, type Pool, type Tx } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { repeat } from '../../../src/base/lib/repeat.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { expel } from '../../../src/control/rooms/participants.sql.ts';
import type { Room } from '../../../src/control/rooms/room.ts';
import { participantExpelled } from '../../../src/control/rooms/room-events.ts';
import { deleteWatchdog } from '../../../src/control/watchdogs/delete-watchdog.ts';
import { claimDueWatchdogs } from '../../../src/control/watchdogs/due-watchdogs.sql.ts';
import { updateWatchdog } from '../../../src/control/watchdogs/update-watchdog.ts';
import { wakeWatchdogs } from '../../../src/control/watchdogs/wake-watchdogs.sql.ts';
import { LOOK_EVERY_SECONDS, lookAtDue, watch } from '../../../src/control/watchdogs/watch.ts';
import { WATCHDOG_CONDITIONS } from '../../../src/control/watchdogs/watchdog.ts';
import { watchdogListener } from '../../../src/control/watchdogs/watchdog-listener.ts';
import type { Deps } from '../../../src/doors/deps.ts';
import { appendEvents } from '../../../src/events/append-events.sql.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { takeTurns } from '../../../src/events/run-listeners.ts';
import { listLags, upsertListener } from '../../../src/events/turns.sql.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { adjustCredit } from '../../../src/money/ledger/adjust-credit.ts';
import { appendPosting } from '../../../src/money/ledger/ledger.sql.ts';
import { changeStatus, setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { moved } from '../../support/append-only.ts';
import { useDatabase } from '../../support/database.ts';
import { openHolder } from '../../support/holder.ts';
import { callerOf, makeTenant, OPERATOR } from '../../support/tenants.ts';
import {
  arm,
  depsOn,
  enter,
  eventTypes,
  expectNextLook,
  find,
  makeRoom,
  passPause,
  passTime,
  secondsToNextLook,
} from './support.ts';

/** A tenant that needs no credit. */
const ACTIVE = { status: 'active', exempt: true } as const;

const database = useDatabase();
let db: Pool;
let deps: Deps;
let tenant: TenantId;
let room: Room;

beforeAll(async () => {
  db = database.pool;
  deps = depsOn(db);
  await upsertListener(db, watchdogListener);
});
beforeEach(async () => {
  await db.query('delete from watchdogs');
  tenant = await makeTenant(db, ACTIVE);
  room = await makeRoom(db, tenant);
});

/** What the listener does soon after an event. */
const hear = async () => {
  await numberEvents(db, [tenant]);
  await takeTurns(deps, watchdogListener);
};
const look = async () => {
  await hear();
  await passPause(db);
  await lookAtDue(deps);
};
const pass = (seconds: number) => passTime(db, tenant, room, seconds);
const leave = (username: string) =>
  inTransaction(db, async (tx) => {
    const left = await expel(tx, tenant, room.uid, 'kicked', [username]);
    await appendEvents(tx, tenant, left.map(participantExpelled));
  });
/** As after an event that affects every condition. */
const wake = (tx: Tx, { uid }: Room) =>
  wakeWatchdogs(
    tx,
    tenant,
    WATCHDOG_CONDITIONS.map((condition) => ({ roomUid: uid, condition })),
  );
const startWatching = (deps: Deps) =>
  repeat(
    LOOK_EVERY_SECONDS,
    (soon) => watch(deps, soon),
    () => {},
  );
const credit = (amount: bigint) =>
  adjustCredit(db, OPERATOR, tenant, { amount, reason: 'test', id: undefined });
const count = (types: readonly string[], type: string) => types.filter((each) => each === type).length;
const present = async () => {
  const { rows } = await db.query<{ username: string }>(
    `select username from participants
      where tenant_id = $1 and room_uid = $2 and left_at is null and expires_at > now() order by username`,
    [tenant, room.uid],
  );
  return rows.map(({ username }) => username);
};
const moderation = async () =>
  (
    await db.query(
      `select action, room_uid = $2 as here, kind, value, tracks, actor, key_id, watchdog_id,
              (select type from events e where e.tenant_id = m.tenant_id and e.seq = m.id) as event
         from moderation_events m where tenant_id = $1 order by id`,
      [tenant, room.uid],
    )
  ).rows;

describe('each condition', () => {
  test('max_duration fires when the room has existed for that long, and not before', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'max_duration' });
    await look();
    await expectNextLook(db, watchdog, 60);
    await pass(50);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'armed', firedAt: null });
    await pass(10);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({
      state: 'fired',
      deadline: null,
      firedAt: expect.any(Date),
    });
    await look();
    expect(await eventTypes(db, tenant)).toStrictEqual(['watchdog_fired']);
  });

  test('unused_for fires if no user ever entered', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'unused_for', action: 'end_room' });
    await pass(60);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'fired' });
  });

  test('unused_for is over once a user has entered', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'unused_for' });
    await look();
    await expectNextLook(db, watchdog, 60);
    await enter(db, tenant, room, 'ann');
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'disarmed', deadline: null });
    await pass(3600);
    await look();
    expect(await eventTypes(db, tenant)).toStrictEqual(['participant_entered']);
  });

  test('empty_for counts from when the last user left or expired', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'empty_for', action: 'end_room' });
    await pass(120);
    await look();
    await expectNextLook(db, watchdog, null);
    await enter(db, tenant, room, 'ann');
    await enter(db, tenant, room, 'bob');
    await look();
    await expectNextLook(db, watchdog, 660);
    await leave('bob');
    await look();
    await expectNextLook(db, watchdog, 660);
    await leave('ann');
    await look();
    await expectNextLook(db, watchdog, 60);
    await pass(50);
    await enter(db, tenant, room, 'ann');
    await look();
    await pass(20);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'armed' });
    // The expiry of a token is not an event.
    await pass(630);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'armed' });
    await pass(10);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'fired' });
  });

  test('empty_for looks again if tokens were renewed meanwhile', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'empty_for', action: 'end_room' });
    await enter(db, tenant, room, 'ann');
    await look();
    await pass(500);
    await enter(db, tenant, room, 'ann');
    await expectNextLook(db, watchdog, 160);
    await pass(160);
    await look();
    await expectNextLook(db, watchdog, 500);
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'armed' });
  });

  test('host_absent_for counts from the creation, or from when a host was last present', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'host_absent_for' });
    await enter(db, tenant, room, 'ann');
    await look();
    await expectNextLook(db, watchdog, 60);
    await enter(db, tenant, room, 'bob', 'host');
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ deadline: null });
    await expectNextLook(db, watchdog, 60);
    await pass(30);
    // A relay reports usage of the host, which counts more than a token that is still valid.
    await db.query(`update participants set last_seen_at = now() where tenant_id = $1 and username = 'bob'`, [
      tenant,
    ]);
    await pass(30);
    await look();
    await expectNextLook(db, watchdog, 30);
    await pass(20);
    await enter(db, tenant, room, 'bob', 'host');
    await pass(10);
    await look();
    await expectNextLook(db, watchdog, 50);
    await pass(50);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'fired' });
  });

  test('alone_for counts from when all others had left', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'alone_for', action: 'kick' });
    await look();
    await expectNextLook(db, watchdog, null);
    await enter(db, tenant, room, 'ann');
    await look();
    await expectNextLook(db, watchdog, 60);
    await pass(50);
    await enter(db, tenant, room, 'bob');
    await look();
    // Ann's tokens expire first.
    await expectNextLook(db, watchdog, 610);
    await leave('bob');
    await look();
    await expectNextLook(db, watchdog, 60);
    await pass(60);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'fired' });
    expect(await present()).toStrictEqual([]);
  });

  test('participant_max_duration fires once for each participant', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'participant_max_duration' });
    await look();
    await expectNextLook(db, watchdog, null);
    await enter(db, tenant, room, 'ann');
    await pass(30);
    await enter(db, tenant, room, 'bob');
    await look();
    await expectNextLook(db, watchdog, 30);
    await pass(30);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'armed', firedAt: expect.any(Date) });
    await look();
    await expectNextLook(db, watchdog, 30);
    await pass(30);
    await look();
    await look();
    await expectNextLook(db, watchdog, null);
    await pass(300);
    await look();
    expect(count(await eventTypes(db, tenant), 'watchdog_fired')).toBe(2);
    await leave('ann');
    await enter(db, tenant, room, 'ann');
    await look();
    await expectNextLook(db, watchdog, 60);
  });

  test('participant_max_duration acts only on users beyond the limit', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'participant_max_duration', action: 'kick' });
    for (const [username, seconds] of Object.entries({ ann: 70, bob: 61, cid: 50, dan: 5 })) {
      await enter(db, tenant, room, username);
      await passTime(db, tenant, room, seconds, { onlyUser: username });
    }
    await look();
    expect(await present()).toStrictEqual(['cid', 'dan']);
    expect((await moderation()).map(({ value }) => value)).toStrictEqual(['ann', 'bob']);
    await look();
    await expectNextLook(db, watchdog, 10);
  });

  test.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
    ['the credit', () => credit(-5n), () => credit(5n)],
    [
      'the status',
      () => changeStatus(db, OPERATOR, tenant, 'suspended', 'test'),
      () => changeStatus(db, OPERATOR, tenant, 'active', 'test'),
    ],
    [
      'the exemption',
      () => setExempt(db, OPERATOR, tenant, false),
      () => setExempt(db, OPERATOR, tenant, true),
    ],
  ])('unadmitted_for counts from the loss of %s, and stops when it is back', async (what, end, restore) => {
    if (what === 'the credit') await credit(5n);
    await setExempt(db, OPERATOR, tenant, what !== 'the credit');
    const watchdog = await arm(db, tenant, room, { condition: 'unadmitted_for' });
    await look();
    await expectNextLook(db, watchdog, null);
    expect(await find(db, tenant, watchdog)).toMatchObject({ deadline: null });

    await end();
    await hear();
    const { deadline } = await find(db, tenant, watchdog);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ deadline });
    await expectNextLook(db, watchdog, 60);
    await pass(50);
    await restore();
    await look();
    await expectNextLook(db, watchdog, null);
    await pass(3600);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'armed', deadline: null });

    await end();
    await look();
    await expectNextLook(db, watchdog, 60);
    await pass(60);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'fired' });
  });

  test('unadmitted_for that is armed during a change is woken by it', async () => {
    await setExempt(db, OPERATOR, tenant, false);
    await credit(5n);
    const charge = await db.connect();
    await charge.query('begin');
    const account = await lockAccount(charge, tenant);
    await appendPosting(charge, account, { kind: 'adjustment', amount: -5n, detail: 'test' });
    const watchdog = await arm(db, tenant, room, { condition: 'unadmitted_for' });
    await look();
    await expectNextLook(db, watchdog, null);
    await charge.query('commit');
    charge.release();
    await look();
    await expectNextLook(db, watchdog, 60);
  });

  test('a charge that leaves credit wakes no watchdog', async () => {
    await setExempt(db, OPERATOR, tenant, false);
    await credit(10n);
    const watchdog = await arm(db, tenant, room, { condition: 'unadmitted_for' });
    await look();
    await credit(-9n);
    await hear();
    await expectNextLook(db, watchdog, null);
    await credit(-1n);
    await hear();
    expect(await secondsToNextLook(db, watchdog)).not.toBeNull();
  });
});

test.each(['empty_for', 'host_absent_for', 'alone_for'] as const)(
  '%s has a deadline only while it holds, also in events',
  async (condition) => {
    const watchdog = await arm(db, tenant, room, { condition, warnBeforeMs: 20_000 });
    const deadline = async () => (await find(db, tenant, watchdog)).deadline;
    await enter(db, tenant, room, 'ann', 'host');
    await enter(db, tenant, room, 'bob');
    await look();
    expect(await deadline()).toBeNull();
    await expectNextLook(db, watchdog, condition === 'host_absent_for' ? 40 : 640);
    await leave('ann');
    if (condition === 'empty_for') await leave('bob');
    await look();
    const left = (await deadline())!.getTime() - Date.now();
    expect(left).toBeGreaterThan(30_000);
    expect(left).toBeLessThanOrEqual(60_000);
    await pass(45);
    await look();
    await enter(db, tenant, room, 'ann', 'host');
    await look();
    expect(await deadline()).toBeNull();
    await numberEvents(db, [tenant]);
    const { rows } = await db.query(
      `select type, subject ->> 'deadline' is not null as "hasDeadline" from events
        where tenant_id = $1 and type like 'watchdog%' order by seq`,
      [tenant],
    );
    expect(rows).toStrictEqual([
      { type: 'watchdog_warned', hasDeadline: true },
      { type: 'watchdog_rearmed', hasDeadline: false },
    ]);
  },
);

describe('each action', () => {
  const fire = async (action: 'end_room' | 'kick' | 'revoke_publish' | 'notify') => {
    await enter(db, tenant, room, 'ann');
    await enter(db, tenant, room, 'bob');
    const watchdog = await arm(db, tenant, room, { condition: 'max_duration', action });
    await pass(60);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'fired' });
    return watchdog;
  };
  const ofWatchdog = (id: string) => ({
    here: true,
    actor: null,
    key_id: null,
    watchdog_id: id,
    event: 'moderation',
  });
  const entered = ['participant_entered', 'participant_entered'];

  test('notify only appends the event', async () => {
    await fire('notify');
    expect(await eventTypes(db, tenant)).toStrictEqual([...entered, 'watchdog_fired']);
    expect(await moderation()).toStrictEqual([]);
    expect(await present()).toStrictEqual(['ann', 'bob']);
  });

  test('end_room ends the room, and disarms the other watchdogs', async () => {
    const other = await arm(db, tenant, room, { condition: 'empty_for' });
    const { id } = await fire('end_room');
    expect(await find(db, tenant, other)).toMatchObject({ state: 'disarmed' });
    const { rows } = await db.query('select state, end_reason from rooms where uid = $1', [room.uid]);
    expect(rows).toStrictEqual([{ state: 'ENDED', end_reason: 'watchdog' }]);
    expect(await eventTypes(db, tenant)).toStrictEqual([
      ...entered,
      'participant_left',
      'participant_left',
      'room_ended',
      'moderation',
      'watchdog_fired',
    ]);
    expect(await moderation()).toStrictEqual([
      { ...ofWatchdog(id), action: 'close_room', kind: null, value: null, tracks: [] },
    ]);
  });

  test('kick makes all participants leave', async () => {
    const { id } = await fire('kick');
    expect(await present()).toStrictEqual([]);
    const { rows } = await db.query(
      'select username, epoch, leave_reason, revoked_at is not null as revoked from participants where tenant_id = $1 order by 1',
      [tenant],
    );
    expect(rows).toStrictEqual(
      ['ann', 'bob'].map((username) => ({ username, epoch: 1, leave_reason: 'watchdog', revoked: true })),
    );
    expect(await eventTypes(db, tenant)).toStrictEqual([
      ...entered,
      'moderation',
      'moderation',
      'participant_left',
      'participant_left',
      'watchdog_fired',
    ]);
    expect(await moderation()).toStrictEqual(
      ['ann', 'bob'].map((value) => ({
        ...ofWatchdog(id),
        action: 'kick',
        kind: 'user',
        value,
        tracks: [],
      })),
    );
    const stream = await db.query(
      'select last_revocation > 2 as revoked from event_streams where tenant_id = $1',
      [tenant],
    );
    expect(stream.rows).toStrictEqual([{ revoked: true }]);
  });

  test('revoke_publish takes every right to publish', async () => {
    const { id } = await fire('revoke_publish');
    const rights = ['audio', 'video', 'screen', 'data'];
    const { rows } = await db.query(
      'select username, publish_revoked, revoked_at is not null as revoked from participants where tenant_id = $1 order by 1',
      [tenant],
    );
    expect(rows).toStrictEqual(
      ['ann', 'bob'].map((username) => ({ username, publish_revoked: rights, revoked: true })),
    );
    expect(await eventTypes(db, tenant)).toStrictEqual([
      ...entered,
      'moderation',
      'moderation',
      'participant_updated',
      'participant_updated',
      'watchdog_fired',
    ]);
    expect(await moderation()).toStrictEqual(
      ['ann', 'bob'].map((value) => ({
        ...ofWatchdog(id),
        action: 'revoke_publish',
        kind: 'user',
        value,
        tracks: rights,
      })),
    );
  });

  test('the event has the watchdog as it is afterwards', async () => {
    const { id } = await fire('notify');
    const { rows } = await db.query(
      `select subject ->> 'id' as id, subject ->> 'state' as state, subject -> 'deadline' as deadline,
              subject ->> 'room' as room, room_uid from events where tenant_id = $1 and type = 'watchdog_fired'`,
      [tenant],
    );
    expect(rows).toStrictEqual([{ id, state: 'fired', deadline: null, room: room.name, room_uid: room.uid }]);
  });
});

describe('the warning', () => {
  test('comes once, before the watchdog fires', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'max_duration', warnBeforeMs: 20_000 });
    await look();
    await expectNextLook(db, watchdog, 40);
    await pass(40);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'warned' });
    await expectNextLook(db, watchdog, 20);
    await inTransaction(db, (tx) => wake(tx, room));
    await look();
    expect(await eventTypes(db, tenant)).toStrictEqual(['watchdog_warned']);
    await pass(20);
    await look();
    expect(await eventTypes(db, tenant)).toStrictEqual(['watchdog_warned', 'watchdog_fired']);
  });

  /** The end of the time that the event of the newest warning tells, in seconds from now. */
  const secondsToToldDeadline = async () => {
    await numberEvents(db, [tenant]);
    const { rows } = await db.query<{ seconds: number }>(
      `select extract(epoch from (subject ->> 'deadline')::timestamptz - now())::double precision as seconds
         from events where tenant_id = $1 and type = 'watchdog_warned' order by seq desc limit 1`,
      [tenant],
    );
    return rows[0]!.seconds;
  };

  test.each([
    ['less time is left', 50],
    ['the deadline has passed', 3600],
  ])('comes at once if %s, and the promised time follows', async (_what, seconds) => {
    const watchdog = await arm(db, tenant, room, { condition: 'max_duration', warnBeforeMs: 20_000 });
    await look();
    await pass(seconds);
    await look();
    expect(await eventTypes(db, tenant)).toStrictEqual(['watchdog_warned']);
    await expectNextLook(db, watchdog, 20);
    const told = await secondsToToldDeadline();
    expect(told).toBeGreaterThan(15);
    expect(told).toBeLessThanOrEqual(20);
    const { deadline, state } = await find(db, tenant, watchdog);
    expect(state).toBe('warned');
    expect((deadline!.getTime() - Date.now()) / 1000).toBeGreaterThan(15);

    await pass(10);
    await inTransaction(db, (tx) => wake(tx, room));
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'warned' });
    await expectNextLook(db, watchdog, 10);
    await pass(10);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'fired' });
    expect(await eventTypes(db, tenant)).toStrictEqual(['watchdog_warned', 'watchdog_fired']);
  });

  test('comes before each time that participant_max_duration fires', async () => {
    const rule = { condition: 'participant_max_duration', action: 'kick', warnBeforeMs: 20_000 } as const;
    const watchdog = await arm(db, tenant, room, rule);
    await enter(db, tenant, room, 'ann');
    await pass(5);
    await enter(db, tenant, room, 'bob');
    await pass(35);
    await look();
    await pass(20);
    await look();
    expect(await present()).toStrictEqual(['bob']);
    // Bob would be due in 5 seconds.
    await look();
    await expectNextLook(db, watchdog, 20);
    await pass(20);
    await look();
    expect(await present()).toStrictEqual([]);
    const types = (await eventTypes(db, tenant)).filter((type) => type.startsWith('watchdog'));
    expect(types).toStrictEqual(['watchdog_warned', 'watchdog_fired', 'watchdog_warned', 'watchdog_fired']);
  });

  test('comes again after the deadline has moved away', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'alone_for', warnBeforeMs: 20_000 });
    await enter(db, tenant, room, 'ann');
    await pass(45);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'warned' });
    await enter(db, tenant, room, 'bob');
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'armed' });
    expect((await eventTypes(db, tenant)).at(-1)).toBe('watchdog_rearmed');
    await leave('bob');
    await look();
    await pass(45);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'warned' });
    expect(count(await eventTypes(db, tenant), 'watchdog_warned')).toBe(2);
    await leave('ann');
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'armed', deadline: null });
    await look();
    expect(count(await eventTypes(db, tenant), 'watchdog_rearmed')).toBe(2);
  });

  test('is withdrawn when its watchdog is over', async () => {
    await arm(db, tenant, room, { condition: 'unused_for', warnBeforeMs: 20_000 });
    await pass(45);
    await look();
    await enter(db, tenant, room, 'ann');
    await look();
    expect(await eventTypes(db, tenant)).toStrictEqual([
      'watchdog_warned',
      'participant_entered',
      'watchdog_rearmed',
    ]);
  });

  test('is withdrawn when its watchdog is changed or deleted', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'max_duration', warnBeforeMs: 20_000 });
    const reference = { id: watchdog.id, actor: undefined };
    await pass(45);
    await look();
    await inTransaction(db, (tx) =>
      updateWatchdog(tx, tenant, { ...reference, change: { warnBeforeMs: 30_000 } }),
    );
    await look();
    await inTransaction(db, (tx) => deleteWatchdog(tx, callerOf(tenant), reference));
    const types = ['watchdog_warned', 'watchdog_rearmed', 'watchdog_warned', 'watchdog_rearmed'];
    expect(await eventTypes(db, tenant)).toStrictEqual(types);
    const { rows } = await db.query(
      `select subject ->> 'state' as state from events where tenant_id = $1 and type = 'watchdog_rearmed' order by seq`,
      [tenant],
    );
    expect(rows).toStrictEqual([{ state: 'armed' }, { state: 'disarmed' }]);
  });
});

describe('the engine', () => {
  test('looks at a woken watchdog at once, and then only after a pause', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'alone_for', durationMs: 3_600_000 });
    await look();
    await db.query(`update watchdogs set looked_at = now() - interval '1 second'`);
    await enter(db, tenant, room, 'ann');
    await hear();
    expect(await secondsToNextLook(db, watchdog)).toBeLessThanOrEqual(0);
    await look();
    await db.query(`update watchdogs set looked_at = now() + interval '1 minute'`);
    const pauseMs = async () => {
      const { rows } = await db.query<{ ms: number }>(
        `select extract(epoch from check_at - looked_at)::double precision * 1000 as ms from watchdogs`,
      );
      return rows[0]!.ms;
    };
    await enter(db, tenant, room, 'bob');
    await hear();
    expect(await pauseMs()).toBe(100);
    await leave('bob');
    await hear();
    expect(await pauseMs()).toBe(100);
  });

  test('a deadline within the pause is not delayed', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'max_duration' });
    await db.query(
      `update watchdogs set check_at = now() + interval '30 seconds', looked_at = now() + interval '1 minute'`,
    );
    await enter(db, tenant, room, 'ann');
    await leave('ann');
    await hear();
    await expectNextLook(db, watchdog, 30);
  });

  test('a locked watchdog delays no operation on its room or on credit', async () => {
    await arm(db, tenant, room, { condition: 'unadmitted_for' });
    await arm(db, tenant, room, { condition: 'empty_for', action: 'end_room' });
    await db.query('update tenants set exempt = false where id = $1', [tenant]);
    const holder = await db.connect();
    try {
      await holder.query('begin');
      await holder.query('select from watchdogs where tenant_id = $1 for update', [tenant]);
      const begun = performance.now();
      await credit(5_000_000n);
      await credit(-5_000_000n);
      await enter(db, tenant, room, 'ann');
      await leave('ann');
      await changeStatus(db, OPERATOR, tenant, 'suspended', 'test');
      // Waiting for the lock would take eight seconds.
      expect(performance.now() - begun).toBeLessThan(7_500);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
  });

  test('a locked participant delays only watchdogs that are about to act', async () => {
    await enter(db, tenant, room, 'ann');
    const rule = { condition: 'max_duration', durationMs: 600_000, action: 'kick' } as const;
    const early = await arm(db, tenant, room, rule);
    const telling = await arm(db, tenant, room, { condition: 'host_absent_for', action: 'notify' });
    await pass(100);
    await db.query('update watchdogs set check_at = now()');
    const holder = await openHolder(db);
    await holder.query('select from participants where tenant_id = $1 for update', [tenant]);
    await lookAtDue(deps);
    await expectNextLook(db, early, 500);
    expect((await find(db, tenant, telling)).state).toBe('fired');
    await holder.release();
  });

  test('a locked watchdog delays the listener for its tenant only', async () => {
    await arm(db, tenant, room, { condition: 'alone_for' });
    const stranger = await makeTenant(db, ACTIVE);
    const theirs = await makeRoom(db, stranger);
    const watchdog = await arm(db, stranger, theirs, { condition: 'alone_for' });
    await db.query('update watchdogs set check_at = null');
    const holder = await db.connect();
    try {
      await holder.query('begin');
      await holder.query('select from watchdogs where tenant_id = $1 for update', [tenant]);
      await enter(db, tenant, room, 'ann');
      await enter(db, stranger, theirs, 'bob');
      await numberEvents(db, [tenant, stranger]);
      await takeTurns(deps, watchdogListener);
      expect(await secondsToNextLook(db, watchdog)).toBeLessThanOrEqual(0);
      expect(await listLags(db)).toMatchObject([{ listener: 'watchdogs', events: 1 }]);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    await db.query('update event_cursors set retry_at = now()');
    await takeTurns(deps, watchdogListener);
    expect(await listLags(db)).toStrictEqual([{ listener: 'watchdogs', events: 0, seconds: 0 }]);
  });

  test('credit that existed for a moment counts, even if the listener hears of it late', async () => {
    await db.query('update tenants set exempt = false where id = $1', [tenant]);
    const watchdog = await arm(db, tenant, room, { condition: 'unadmitted_for' });
    await look();
    await pass(59);
    await db.query(`update watchdogs set created_at = ${moved('created_at', '-1 minute')}`);
    await credit(1n);
    await credit(-1n);
    await pass(1);
    await db.query('update watchdogs set check_at = now()');
    await lookAtDue(deps);
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'armed' });
    await look();
    await expectNextLook(db, watchdog, 60);
  });

  test('a failed look delays no other watchdog, and is repeated', async () => {
    const poor = await arm(db, tenant, room, { condition: 'max_duration' });
    const others = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const another = await makeRoom(db, tenant);
        const watchdog = await arm(db, tenant, another, { condition: 'max_duration' });
        await passTime(db, tenant, another, 60);
        return watchdog;
      }),
    );
    await pass(60);
    await db.query(
      `alter table watchdogs add constraint not_this_one check (state <> 'fired' or id <> '${poor.id}')`,
    );
    await look();
    for (const watchdog of others) expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'fired' });
    expect(await find(db, tenant, poor)).toMatchObject({ state: 'armed' });
    await expectNextLook(db, poor, 5);

    await db.query('alter table watchdogs drop constraint not_this_one');
    await pass(5);
    await look();
    expect(await find(db, tenant, poor)).toMatchObject({ state: 'fired' });
    const { values } = await deps.metrics.watchdogLooks.get();
    expect(values.find(({ labels }) => labels.outcome === 'failed')?.value).toBe(1);
  });

  test('the end of a room disarms its watchdogs', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'max_duration' });
    await db.query(
      `update rooms set state = 'ENDED', ended_at = now(), end_reason = 'ended' where uid = $1`,
      [room.uid],
    );
    await pass(60);
    await look();
    expect(await find(db, tenant, watchdog)).toMatchObject({ state: 'disarmed' });
  });

  test('a deadline before the next turn is met in time', async () => {
    const engine = startWatching(deps);
    const { id } = await arm(db, tenant, room, { condition: 'max_duration', durationMs: 1_000 });
    await expect.poll(() => find(db, tenant, { id })).toMatchObject({ state: 'fired' });
    await engine.stop();
    const { values } = await deps.metrics.watchdogLateness.get();
    expect(values.find(({ metricName }) => metricName?.endsWith('_count'))?.value).toBeGreaterThan(0);
  });

  test('each watchdog fires once, even if some of several processes die', async () => {
    const COUNT = 200;
    const armed = await Promise.all(
      Array.from({ length: COUNT }, async () => {
        const own = await makeRoom(db, tenant);
        await enter(db, tenant, own, 'ann');
        const { id } = await arm(db, tenant, own, { condition: 'max_duration', action: 'kick' });
        await passTime(db, tenant, own, 60);
        return id;
      }),
    );
    // One process dies with its claims.
    expect(await claimDueWatchdogs(db, { limit: 50, leaseSeconds: 5 })).toHaveLength(50);

    const pools = Array.from({ length: 3 }, () => openPool(database.url, { max: 6 }));
    const engines = pools.map((pool) => startWatching(depsOn(pool)));
    const fired = async () => {
      const { rows } = await db.query<{ id: string }>(
        `select subject ->> 'id' as id from events where tenant_id = $1 and type = 'watchdog_fired'`,
        [tenant],
      );
      return rows.map(({ id }) => id).sort();
    };
    await expect.poll(async () => (await fired()).length, { interval: 5 }).toBeGreaterThan(10);
    await engines[0]!.stop();
    // The lease of the dead process is over; every watchdog may be looked at again at any time.
    await db.query(
      `update watchdogs set check_at = now() where tenant_id = $1 and state in ('armed', 'warned')`,
      [tenant],
    );
    for (const engine of engines) engine.wake();
    await expect.poll(async () => (await fired()).length).toBe(COUNT);
    await Promise.all(engines.map((engine) => engine.stop()));
    await Promise.all(pools.map((pool) => pool.end()));

    expect(await fired()).toStrictEqual(armed.sort());
    const { rows } = await db.query(
      `select epoch, leave_reason, count(*)::integer from participants where tenant_id = $1 group by 1, 2`,
      [tenant],
    );
    expect(rows).toStrictEqual([{ epoch: 1, leave_reason: 'watchdog', count: COUNT }]);
  });

  test('watchdogs that came due while no process ran fire at the next start', async () => {
    const watchdog = await arm(db, tenant, room, { condition: 'max_duration' });
    const before = startWatching(deps);
    await expect.poll(() => secondsToNextLook(db, watchdog)).toBeGreaterThan(50);
    await before.stop();
    await pass(3600);
    const after = startWatching(depsOn(db));
    await expect.poll(() => find(db, tenant, watchdog)).toMatchObject({ state: 'fired' });
    await after.stop();
  });
});
