import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import {
  Watchdog_Action as Action,
  Watchdog_State as State,
  type Watchdog,
} from '@boxoffice/contract/watchdog';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { moved } from '../../support/append-only.ts';
import { endRoom } from '../../support/devices.ts';
import { failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { type TestTenant, useService } from '../../support/service.ts';

const app = useService();
const controlOf = useControl(app);
const { method } = WatchdogService;
const THUMBPRINT = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';
const ABSENT = `wd_${'0'.repeat(32)}`;

let tenant: TestTenant;
let control: TestControl;
let room: string;
let rooms = 0;

beforeAll(async () => {
  tenant = await app.paidTenant();
  control = controlOf(tenant);
});
beforeEach(async () => {
  room = await openRoom();
});

async function openRoom(): Promise<string> {
  rooms += 1;
  const name = `room-${rooms}`;
  await control.call(RoomService.method.createRoom, { room: name });
  return name;
}

/** A participant with these capabilities, and how a request names the participant. */
async function actorIn(name: string, capabilities: string[]) {
  const username = `user-${capabilities.length}`;
  await control.call(TokenService.method.mintClientToken, {
    room: name,
    username,
    deviceThumbprint: THUMBPRINT,
    role: 'host',
    capabilities,
  });
  return { username, deviceThumbprint: THUMBPRINT };
}

type Condition = Exclude<Watchdog['condition'], { case: undefined }>;
const lasting = (kind: Condition['case'], seconds: number, nanos = 0) =>
  ({ case: kind, value: { seconds: BigInt(seconds), nanos } }) as Condition;
const maxDuration = lasting('maxDuration', 60);

type Wanted = Partial<Pick<Watchdog, 'action' | 'room'>> & {
  condition?: Condition;
  warnBefore?: { seconds: bigint; nanos?: number };
};
const wanted = (fields: Wanted = {}) => ({
  room,
  condition: maxDuration,
  action: Action.NOTIFY,
  ...fields,
});
const createOne = async (fields: Wanted = {}) =>
  (await control.call(method.createWatchdog, { watchdog: wanted(fields) })).watchdog!;
const refusal = (call: Promise<unknown>) =>
  failureOf(call).then(({ code, reason, fields }) => ({ code, reason, fields }));
/** All are called at once, and must fail in the same way. */
const expectAllRefused = async (calls: readonly Promise<unknown>[], expected: object) => {
  for (const found of await Promise.all(calls.map(refusal))) expect(found).toStrictEqual(expected);
};
const refused = (code: string, reason: string, fields: string[] = []) => ({ code, reason, fields });
const invalid = (...fields: string[]) => refused('INVALID_ARGUMENT', 'INVALID_REQUEST', fields);
const lacksCapability = refused('PERMISSION_DENIED', 'CAPABILITY_REQUIRED');
const notFound = refused('NOT_FOUND', 'NOT_FOUND');
const over = refused('FAILED_PRECONDITION', 'WATCHDOG_OVER');

/** Backdate a room beyond any deadline, and wait until its watchdog has fired. */
async function letFire(watchdog: Watchdog): Promise<void> {
  const { db } = app.service.deps;
  await db.query(`update rooms set created_at = ${moved('created_at', '-400 days')} where uid = $1`, [
    watchdog.roomUid,
  ]);
  // It may have fired already, after an event of its room.
  await db.query('update watchdogs set check_at = now() where id = $1 and fired_at is null', [watchdog.id]);
  const state = async () => (await control.call(method.getWatchdog, { id: watchdog.id })).watchdog?.state;
  await expect.poll(state).toBe(State.FIRED);
}

describe('CreateWatchdog', () => {
  test('arms a watchdog and says when it will fire', async () => {
    const watchdog = await createOne({ warnBefore: { seconds: 5n, nanos: 500_000_000 } });
    const { room: found } = await control.call(RoomService.method.getRoom, { room });
    expect(watchdog).toMatchObject({
      id: expect.stringMatching(/^wd_[0-9a-f]{32}$/),
      room,
      roomUid: found!.uid,
      condition: { case: 'maxDuration', value: { seconds: 60n, nanos: 0 } },
      action: Action.NOTIFY,
      warnBefore: { seconds: 5n, nanos: 500_000_000 },
      state: State.ARMED,
    });
    const created = timestampDate(found!.createTime!).getTime();
    expect(timestampDate(watchdog.deadline!).getTime()).toBe(created + 60_000);
    expect(watchdog.createTime).toBeDefined();
    expect(watchdog.fireTime).toBeUndefined();
  });

  test('each condition accepts its own actions', async () => {
    const { END_ROOM, KICK, REVOKE_PUBLISH, NOTIFY } = Action;
    const all = [END_ROOM, KICK, REVOKE_PUBLISH, NOTIFY];
    const going: Record<Condition['case'], readonly Action[]> = {
      maxDuration: all,
      unusedFor: [END_ROOM, NOTIFY],
      emptyFor: [END_ROOM, NOTIFY],
      hostAbsentFor: all,
      aloneFor: all,
      participantMaxDuration: [KICK, REVOKE_PUBLISH, NOTIFY],
      unadmittedFor: all,
    };
    for (const kind of Object.keys(going) as Condition['case'][]) {
      for (const action of all) {
        const call = control.call(method.createWatchdog, {
          watchdog: wanted({ condition: lasting(kind, 60), action }),
        });
        if (!going[kind].includes(action)) {
          expect(await refusal(call), `${kind} ${action}`).toStrictEqual(invalid('watchdog.action'));
          continue;
        }
        const { watchdog } = await call;
        expect(watchdog).toMatchObject({ condition: { case: kind }, action });
        await control.call(method.deleteWatchdog, { id: watchdog!.id });
      }
    }
  });

  test.each<[string, object | undefined, string]>([
    ['no watchdog', undefined, 'watchdog'],
    ['no room', { room: '' }, 'watchdog.room'],
    ['a room that is no name', { room: 'no room' }, 'watchdog.room'],
    ['no condition', { condition: { case: undefined } }, 'watchdog'],
    ['no duration', { condition: lasting('emptyFor', 0) }, 'watchdog.empty_for'],
    ['a negative duration', { condition: lasting('aloneFor', -60) }, 'watchdog.alone_for'],
    ['less than a second', { condition: lasting('maxDuration', 0, 999_000_000) }, 'watchdog.max_duration'],
    [
      'more than 366 days',
      { condition: lasting('unusedFor', 366 * 86_400, 1_000_000) },
      'watchdog.unused_for',
    ],
    ['a part of a millisecond', { condition: lasting('unadmittedFor', 60, 1) }, 'watchdog.unadmitted_for'],
    ['no action', { action: Action.UNSPECIFIED }, 'watchdog.action'],
    ['an unknown action', { action: 99 }, 'watchdog.action'],
    ['a negative warning', { warnBefore: { seconds: -1n } }, 'watchdog.warn_before'],
    ['a warning as long as the condition', { warnBefore: { seconds: 60n } }, 'watchdog.warn_before'],
  ])('%s is refused', async (_what, fields, field) => {
    const watchdog = fields && { ...wanted(), ...fields };
    const call = control.call(method.createWatchdog, watchdog ? { watchdog } : {});
    expect(await refusal(call)).toStrictEqual(invalid(field));
  });

  test.each([1, 366 * 86_400])('%i s is a valid duration', async (seconds) => {
    const watchdog = await createOne({ condition: lasting('unadmittedFor', seconds) });
    expect(watchdog.condition.value).toMatchObject({ seconds: BigInt(seconds) });
    expect(watchdog.deadline).toBeUndefined();
  });

  test('one armed watchdog per condition; a fired one can be replaced', async () => {
    const first = await createOne();
    expect(await refusal(createOne())).toStrictEqual(refused('ALREADY_EXISTS', 'WATCHDOG_EXISTS'));
    await createOne({ condition: lasting('emptyFor', 60) });
    await letFire(first);
    expect((await createOne()).id).not.toBe(first.id);
  });

  test('one of ten concurrent calls arms a watchdog', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => createOne()));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  test('the same idempotency key arms once', async () => {
    const request = { watchdog: wanted(), idempotencyKey: `once-${room}` };
    const first = await control.call(method.createWatchdog, request);
    expect(await control.call(method.createWatchdog, request)).toStrictEqual(first);
  });

  test('an unknown room is NOT_FOUND, an ended one FAILED_PRECONDITION', async () => {
    expect(await refusal(createOne({ room: 'nowhere' }))).toStrictEqual(notFound);
    await endRoom(app, tenant, room);
    expect(await refusal(createOne())).toMatchObject({ code: 'FAILED_PRECONDITION', reason: 'ROOM_ENDED' });
  });

  test('works without credit', async () => {
    const poor = controlOf(await app.signUp());
    await poor.call(RoomService.method.createRoom, { room: 'poor' });
    const watchdog = { ...wanted({ room: 'poor', condition: lasting('unadmittedFor', 60) }) };
    const answer = await poor.call(method.createWatchdog, { watchdog });
    expect(answer.watchdog!.deadline).toBeDefined();
  });
});

describe('an actor', () => {
  test('needs watchdog.manage in the room of the watchdog, for every method', async () => {
    const { id } = await createOne();
    const able = await actorIn(room, ['watchdog.manage']);
    const unable = await actorIn(room, ['chat.send', 'room.end']);
    const elsewhere = await actorIn(await openRoom(), ['watchdog.manage', 'roster.view', 'chat.send']);

    const calls = (actor: typeof able) => [
      () =>
        control.call(method.createWatchdog, {
          watchdog: wanted({ condition: lasting('aloneFor', 60) }),
          actor,
        }),
      () => control.call(method.getWatchdog, { id, actor }),
      () => control.call(method.listWatchdogs, { room, actor }),
      () =>
        control.call(method.updateWatchdog, {
          watchdog: { id, action: Action.END_ROOM },
          updateMask: { paths: ['action'] },
          actor,
        }),
      () => control.call(method.deleteWatchdog, { id, actor }),
    ];
    for (const actor of [unable, elsewhere]) {
      for (const call of calls(actor)) expect(await refusal(call())).toStrictEqual(lacksCapability);
    }
    for (const call of calls(able)) await call();
  });

  test('cannot list all rooms', async () => {
    const actor = await actorIn(room, ['watchdog.manage']);
    expect(await refusal(control.call(method.listWatchdogs, { actor }))).toStrictEqual(lacksCapability);
  });

  test('gets NOT_FOUND before the missing capability', async () => {
    const actor = await actorIn(room, ['chat.send']);
    const calls = [
      control.call(method.createWatchdog, { watchdog: wanted({ room: 'nowhere' }), actor }),
      control.call(method.getWatchdog, { id: ABSENT, actor }),
      control.call(method.listWatchdogs, { room: 'nowhere', actor }),
      control.call(method.deleteWatchdog, { id: ABSENT, actor }),
    ];
    await expectAllRefused(calls, notFound);
  });
});

describe('GetWatchdog', () => {
  test('one that has fired says when', async () => {
    const created = await createOne();
    await letFire(created);
    const { watchdog } = await control.call(method.getWatchdog, { id: created.id });
    expect(watchdog!.fireTime).toBeDefined();
    expect(watchdog!.deadline).toBeUndefined();
  });

  test("another tenant's watchdog does not exist for the caller", async () => {
    const { id } = await createOne();
    const stranger = controlOf(await app.signUp());
    const update = { watchdog: { id, action: Action.KICK }, updateMask: { paths: ['action'] } };
    const calls = [
      stranger.call(method.getWatchdog, { id }),
      stranger.call(method.getWatchdog, { id: ABSENT }),
      stranger.call(method.updateWatchdog, update),
      stranger.call(method.deleteWatchdog, { id }),
      stranger.call(method.listWatchdogs, { room }),
    ];
    await expectAllRefused(calls, notFound);
  });

  test.each(['', 'wd_1', `rm_${'0'.repeat(32)}`])('%j is not an id', async (id) => {
    const calls = [control.call(method.getWatchdog, { id }), control.call(method.deleteWatchdog, { id })];
    await expectAllRefused(calls, invalid('id'));
    const update = control.call(method.updateWatchdog, {
      watchdog: { id, action: Action.KICK },
      updateMask: { paths: ['action'] },
    });
    expect(await refusal(update)).toStrictEqual(invalid('watchdog.id'));
  });
});

describe('ListWatchdogs', () => {
  test('pages through those of a room, newest first', async () => {
    const kinds = ['maxDuration', 'unusedFor', 'emptyFor', 'hostAbsentFor', 'aloneFor'] as const;
    const ids: string[] = [];
    for (const kind of kinds) ids.unshift((await createOne({ condition: lasting(kind, 60) })).id);
    const found: string[] = [];
    let pageToken = '';
    do {
      const page = await control.call(method.listWatchdogs, { room, pageSize: 2, pageToken });
      expect(page.watchdogs.length).toBeLessThanOrEqual(2);
      found.push(...page.watchdogs.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(found).toStrictEqual(ids);
  });

  test('without a room, those of all rooms', async () => {
    const older = await createOne();
    room = await openRoom();
    const newer = await createOne();
    const { watchdogs } = await control.call(method.listWatchdogs, { pageSize: 2 });
    expect(watchdogs.map(({ id }) => id)).toStrictEqual([newer.id, older.id]);
  });

  test('for rooms that share a name, those of the newest', async () => {
    await createOne();
    await endRoom(app, tenant, room);
    expect((await control.call(method.listWatchdogs, { room })).watchdogs).toHaveLength(1);
    await control.call(RoomService.method.createRoom, { room });
    expect((await control.call(method.listWatchdogs, { room })).watchdogs).toHaveLength(0);
  });

  test.each<[string, object, string]>([
    ['a room that is no name', { room: 'no room' }, 'room'],
    ['a negative page size', { pageSize: -1 }, 'page_size'],
    ['a page of more than 500', { pageSize: 501 }, 'page_size'],
    ['an invalid page token', { pageToken: 'xyz' }, 'page_token'],
    ['one of another list', { pageToken: Buffer.from('["a","b"]').toString('base64url') }, 'page_token'],
  ])('%s is refused', async (_what, fields, field) => {
    expect(await refusal(control.call(method.listWatchdogs, fields))).toStrictEqual(invalid(field));
  });
});

describe('UpdateWatchdog', () => {
  const update = (watchdog: object, ...paths: string[]) =>
    control.call(method.updateWatchdog, { watchdog, updateMask: { paths } });

  test('changes what the mask names, and arms again', async () => {
    const { id } = await createOne({ warnBefore: { seconds: 59n } });
    const state = async () => (await control.call(method.getWatchdog, { id })).watchdog!.state;
    await app.service.deps.db.query(
      `update rooms set created_at = ${moved('created_at', '-5 s')} where name = $1`,
      [room],
    );
    await expect.poll(state).toBe(State.WARNED);

    const { watchdog } = await update(
      { id, condition: lasting('maxDuration', 3600), action: Action.KICK, warnBefore: { seconds: 7n } },
      'max_duration',
      'action',
    );
    expect(watchdog).toMatchObject({
      id,
      condition: { case: 'maxDuration', value: { seconds: 3600n } },
      action: Action.KICK,
      warnBefore: { seconds: 59n },
      state: State.ARMED,
    });
    const { watchdog: unwarned } = await update({ id }, 'warn_before');
    expect(unwarned!.warnBefore).toBeUndefined();
    expect(await control.call(method.getWatchdog, { id })).toMatchObject({ watchdog: { ...unwarned } });
  });

  test.each<[string, object | undefined, string[], string]>([
    ['no watchdog', undefined, ['action'], 'watchdog'],
    ['no mask', { action: Action.KICK }, [], 'update_mask'],
    ['a star', { action: Action.KICK }, ['*'], 'update_mask'],
    ['another field', { room: 'other' }, ['room'], 'update_mask'],
    ['no action', {}, ['action'], 'watchdog.action'],
    ['a negative warning', { warnBefore: { seconds: -1n } }, ['warn_before'], 'watchdog.warn_before'],
    ['a condition that is not there', {}, ['max_duration'], 'watchdog.max_duration'],
    [
      'another one than is there',
      { condition: lasting('emptyFor', 9) },
      ['max_duration'],
      'watchdog.max_duration',
    ],
    ['a duration of 0', { condition: lasting('maxDuration', 0) }, ['max_duration'], 'watchdog.max_duration'],
    ['a warning that is too long', { warnBefore: { seconds: 60n } }, ['warn_before'], 'watchdog.warn_before'],
  ])('%s is refused', async (_what, fields, paths, field) => {
    const { id } = await createOne();
    const request = fields ? { watchdog: { id, ...fields } } : {};
    const call = control.call(method.updateWatchdog, { ...request, updateMask: { paths } });
    expect(await refusal(call)).toStrictEqual(invalid(field));
  });

  test('the resulting watchdog must be valid', async () => {
    const { id } = await createOne({ condition: lasting('emptyFor', 60), warnBefore: { seconds: 30n } });
    expect(await refusal(update({ id, action: Action.KICK }, 'action'))).toStrictEqual(
      invalid('watchdog.action'),
    );
    expect(await refusal(update({ id, condition: lasting('emptyFor', 30) }, 'empty_for'))).toStrictEqual(
      invalid('watchdog.warn_before'),
    );
  });

  test('another kind of condition is refused', async () => {
    const { id } = await createOne();
    expect(await refusal(update({ id, condition: lasting('aloneFor', 60) }, 'alone_for'))).toStrictEqual(
      refused('INVALID_ARGUMENT', 'IMMUTABLE_FIELD', ['watchdog.alone_for']),
    );
  });

  test('a fired or disarmed one is FAILED_PRECONDITION', async () => {
    const fired = await createOne();
    const disarmed = await createOne({ condition: lasting('emptyFor', 60) });
    await letFire(fired);
    await app.service.deps.db.query(
      `update watchdogs set state = 'disarmed', check_at = null where id = $1`,
      [disarmed.id],
    );
    for (const { id } of [fired, disarmed])
      expect(await refusal(update({ id, action: Action.END_ROOM }, 'action'))).toMatchObject(over);
  });

  test('an unknown one is NOT_FOUND', async () => {
    expect(await refusal(update({ id: ABSENT, action: Action.KICK }, 'action'))).toStrictEqual(notFound);
  });
});

describe('DeleteWatchdog', () => {
  test('removes it completely', async () => {
    const { id } = await createOne();
    await control.call(method.deleteWatchdog, { id });
    expect(await refusal(control.call(method.getWatchdog, { id }))).toStrictEqual(notFound);
    expect(await refusal(control.call(method.deleteWatchdog, { id }))).toStrictEqual(notFound);
  });

  test('one that has fired stays', async () => {
    const watchdog = await createOne();
    await letFire(watchdog);
    expect(await refusal(control.call(method.deleteWatchdog, { id: watchdog.id }))).toStrictEqual(over);
  });
});

test('every method takes backend keys only', async () => {
  const relay = { key: tenant.relayKey };
  const calls = [
    control.call(method.createWatchdog, {}, relay),
    control.call(method.getWatchdog, {}, relay),
    control.call(method.listWatchdogs, {}, relay),
    control.call(method.updateWatchdog, {}, relay),
    control.call(method.deleteWatchdog, {}, relay),
  ];
  await expectAllRefused(calls, refused('PERMISSION_DENIED', 'RELAY_KEY'));
});
