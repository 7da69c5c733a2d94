import { type Room, Room_State } from '@boxoffice/contract/room';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { type TestTenant, useService } from '../../support/service.ts';

const app = useService();
const controlOf = useControl(app);
const { createRoom, getRoom, listRooms, updateRoomPolicy, endRoom } = RoomService.method;
const THUMBPRINT = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';
const NOBODY = { username: 'nobody', deviceThumbprint: THUMBPRINT };

async function createRooms(control: TestControl, ...names: string[]): Promise<Room[]> {
  const rooms: Room[] = [];
  for (const room of names) rooms.push((await control.call(createRoom, { room })).room!);
  return rooms;
}

/** A participant that can act. */
async function mint(control: TestControl, room: string, username: string, capabilities: string[]) {
  await control.call(TokenService.method.mintClientToken, {
    room,
    username,
    deviceThumbprint: THUMBPRINT,
    role: 'host',
    capabilities,
  });
  return { username, deviceThumbprint: THUMBPRINT };
}

async function eventsOf(tenant: TestTenant): Promise<{ type: string; room: string; username?: string }[]> {
  await numberEvents(app.service.deps.db, [parseTenantId(tenant.id)!]);
  const { rows } = await app.service.deps.db.query(
    `select type, coalesce(subject ->> 'room', subject ->> 'name') as room, subject ->> 'username' as username
       from events where tenant_id = $1 order by seq`,
    [parseTenantId(tenant.id)],
  );
  return rows.map(({ username, ...event }) => (username === null ? event : { ...event, username }));
}

describe('ListRooms', () => {
  test('pages hold every room once, the newest first', async () => {
    const control = controlOf(await app.signUp());
    const rooms = await createRooms(control, 'a', 'b', 'c', 'd', 'e');
    const seen: string[][] = [];
    let pageToken = '';
    do {
      const page = await control.call(listRooms, { pageSize: 2, pageToken });
      seen.push(page.rooms.map((room) => room.name));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toStrictEqual([['e', 'd'], ['c', 'b'], ['a']]);
    const whole = await control.call(listRooms, {});
    expect(whole.nextPageToken).toBe('');
    expect(whole.rooms).toStrictEqual(rooms.toReversed());
  });

  test('a page that ends with the last room has no next one', async () => {
    const control = controlOf(await app.signUp());
    await createRooms(control, 'a', 'b');
    expect((await control.call(listRooms, { pageSize: 2 })).nextPageToken).toBe('');
  });

  test('rooms that were created at the same time are all listed', async () => {
    const tenant = await app.signUp();
    const control = controlOf(tenant);
    await createRooms(control, 'a', 'b', 'c');
    await app.service.deps.db.query('update rooms set created_at = now() where tenant_id = $1', [
      parseTenantId(tenant.id),
    ]);
    const first = await control.call(listRooms, { pageSize: 2 });
    const second = await control.call(listRooms, { pageSize: 2, pageToken: first.nextPageToken });
    expect([...first.rooms, ...second.rooms].map((room) => room.name).sort()).toStrictEqual(['a', 'b', 'c']);
  });

  test('by state, by the beginning of the name, by the time of creation', async () => {
    const tenant = await app.signUp();
    const control = controlOf(tenant);
    await createRooms(control, 'stage-1', 'stage-2', 'lobby');
    await control.call(endRoom, { room: 'stage-2' });
    await app.service.deps.db.query(
      `update rooms set created_at = case when name = 'stage-1' then '2026-01-01Z'::timestamptz
                                               when name = 'stage-2' then '2026-01-02Z' else '2026-01-03Z' end
        where tenant_id = $1`,
      [parseTenantId(tenant.id)],
    );
    const at = (day: number) => timestampFromDate(new Date(Date.UTC(2026, 0, day)));
    const named = async (filter: Parameters<typeof control.call<typeof listRooms>>[1]) =>
      (await control.call(listRooms, filter)).rooms.map((room) => room.name);
    expect(await named({ state: Room_State.LIVE })).toStrictEqual(['lobby', 'stage-1']);
    expect(await named({ state: Room_State.ENDED })).toStrictEqual(['stage-2']);
    expect(await named({ namePrefix: 'stage-' })).toStrictEqual(['stage-2', 'stage-1']);
    expect(await named({ namePrefix: 'stage_' })).toStrictEqual([]);
    expect(await named({ createTimeFrom: at(2) })).toStrictEqual(['lobby', 'stage-2']);
    expect(await named({ createTimeBefore: at(2) })).toStrictEqual(['stage-1']);
    expect(await named({ createTimeFrom: at(2), createTimeBefore: at(3) })).toStrictEqual(['stage-2']);
    expect(await named({ state: Room_State.LIVE, namePrefix: 's', createTimeFrom: at(2) })).toStrictEqual([]);
  });

  test("another tenant's rooms are not listed, and its page tokens are refused", async () => {
    const [one, other] = [controlOf(await app.signUp()), controlOf(await app.signUp())];
    await createRooms(one, 'a', 'b');
    expect((await other.call(listRooms, {})).rooms).toStrictEqual([]);
    const { nextPageToken } = await one.call(listRooms, { pageSize: 1 });
    const failure = await failureOf(other.call(listRooms, { pageToken: nextPageToken }));
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['page_token'] });
  });

  test.each([
    ['page_size', { pageSize: -1 }],
    ['page_size', { pageSize: 501 }],
    ['page_token', { pageToken: 'AAAA' }],
    ['page_token', { pageToken: Buffer.from('["x"]').toString('base64url') }],
    ['page_token', { pageToken: Buffer.from('[]').toString('base64url') }],
    ['name_prefix', { namePrefix: '-' }],
    ['state', { state: 9 as Room_State }],
    ['create_time_from', { createTimeFrom: { seconds: 1n << 60n, nanos: 0 } }],
    ['create_time_before', { createTimeBefore: { seconds: 0n, nanos: -1 } }],
  ])('INVALID_ARGUMENT: %s (%#)', async (field, request) => {
    const control = controlOf(await app.signUp());
    const failure = await failureOf(control.call(listRooms, request));
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST', fields: [field] });
  });
});

describe('UpdateRoomPolicy', () => {
  test('changes what the mask names, and nothing else', async () => {
    const tenant = await app.signUp();
    const control = controlOf(tenant);
    const policy = { region: 'eu', maxParticipants: 5, hostCapabilities: ['chat.send'], muteOnEntry: true };
    const { room: created } = await control.call(createRoom, { room: 'lobby', policy });
    const { room } = await control.call(updateRoomPolicy, {
      room: 'lobby',
      policy: { region: 'us', locked: true, maxParticipants: 7, hostCapabilities: ['room.end'] },
      updateMask: { paths: ['locked', 'host_capabilities', 'mute_on_entry'] },
    });
    expect(room).toStrictEqual({
      ...created,
      policy: { ...created!.policy, locked: true, hostCapabilities: ['room.end'], muteOnEntry: false },
    });
    expect((await control.call(getRoom, { room: 'lobby' })).room).toStrictEqual(room);
    expect(await eventsOf(tenant)).toStrictEqual([
      { type: 'room_created', room: 'lobby' },
      { type: 'room_updated', room: 'lobby' },
    ]);
  });

  test('every field that can be changed', async () => {
    const control = controlOf(await app.signUp());
    await createRooms(control, 'lobby');
    const policy = {
      maxParticipants: 9,
      locked: true,
      hostCapabilities: ['room.end'],
      audienceCapabilities: ['chat.send'],
      muteOnEntry: true,
    };
    const paths = [
      'max_participants',
      'locked',
      'host_capabilities',
      'audience_capabilities',
      'mute_on_entry',
    ];
    const { room } = await control.call(updateRoomPolicy, { room: 'lobby', policy, updateMask: { paths } });
    expect(room!.policy).toMatchObject(policy);
  });

  test('two concurrent changes of different fields both take effect', async () => {
    const control = controlOf(await app.signUp());
    await createRooms(control, 'lobby');
    const change = (paths: string[]) =>
      control.call(updateRoomPolicy, {
        room: 'lobby',
        policy: { locked: true, muteOnEntry: true },
        updateMask: { paths },
      });
    await Promise.all([change(['locked']), change(['mute_on_entry'])]);
    const { room } = await control.call(getRoom, { room: 'lobby' });
    expect(room!.policy).toMatchObject({ locked: true, muteOnEntry: true });
  });

  test.each([
    ['update_mask', [], {}],
    ['update_mask', ['*'], {}],
    ['update_mask', ['policy.locked'], {}],
    ['update_mask', ['locked', 'colour'], {}],
    ['policy.max_participants', ['max_participants'], { maxParticipants: 100_001 }],
    ['policy.host_capabilities[1]', ['host_capabilities'], { hostCapabilities: ['chat.send', 'fly'] }],
    ['policy.audience_capabilities[0]', ['audience_capabilities'], { audienceCapabilities: [''] }],
  ])('INVALID_ARGUMENT: %s (%#)', async (field, paths, policy) => {
    const control = controlOf(await app.signUp());
    const failure = await failureOf(
      control.call(updateRoomPolicy, { room: 'lobby', policy, updateMask: { paths } }),
    );
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST', fields: [field] });
  });

  test.each(['mode', 'e2ee_required', 'age_verification_required', 'region'])(
    'IMMUTABLE_FIELD: %s',
    async (path) => {
      const control = controlOf(await app.signUp());
      const failure = await failureOf(
        control.call(updateRoomPolicy, { room: 'a', policy: {}, updateMask: { paths: ['locked', path] } }),
      );
      expect(failure).toMatchObject({
        code: 'INVALID_ARGUMENT',
        reason: 'IMMUTABLE_FIELD',
        fields: [`policy.${path}`],
      });
    },
  );

  test('INVALID_ARGUMENT without a policy', async () => {
    const control = controlOf(await app.signUp());
    const failure = await failureOf(
      control.call(updateRoomPolicy, { room: 'a', updateMask: { paths: ['locked'] } }),
    );
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['policy'] });
  });

  const LOCK = { policy: { locked: true }, updateMask: { paths: ['locked'] } };

  test("NOT_FOUND, also for an actor without the capability, and for another tenant's room", async () => {
    const [control, other] = [controlOf(await app.signUp()), controlOf(await app.signUp())];
    await createRooms(other, 'theirs');
    for (const request of [{ room: 'none' }, { room: 'none', actor: NOBODY }, { room: 'theirs' }]) {
      const failure = await failureOf(control.call(updateRoomPolicy, { ...LOCK, ...request }));
      expect(failure).toMatchObject({ code: 'NOT_FOUND', reason: 'NOT_FOUND' });
    }
  });

  test('PERMISSION_DENIED for an actor without room.update_policy, before the state of the room', async () => {
    const control = controlOf(await app.paidTenant());
    await createRooms(control, 'lobby');
    const host = await mint(control, 'lobby', 'host', ['room.update_policy']);
    const guest = await mint(control, 'lobby', 'guest', ['room.end']);
    const { room } = await control.call(updateRoomPolicy, { ...LOCK, room: 'lobby', actor: host });
    expect(room!.policy!.locked).toBe(true);
    await control.call(endRoom, { room: 'lobby' });
    for (const actor of [guest, NOBODY, host]) {
      const failure = await failureOf(control.call(updateRoomPolicy, { ...LOCK, room: 'lobby', actor }));
      expect(failure).toMatchObject({
        code: 'PERMISSION_DENIED',
        reason: 'CAPABILITY_REQUIRED',
        metadata: { capability: 'room.update_policy' },
      });
    }
  });

  test('PERMISSION_DENIED for an actor who grants a role a capability that the actor lacks', async () => {
    const control = controlOf(await app.paidTenant());
    await createRooms(control, 'lobby');
    const actor = await mint(control, 'lobby', 'host', ['room.update_policy', 'chat.send', 'moderate.kick']);
    const update = (list: 'host' | 'audience', capabilities: string[], on = {}) =>
      control.call(updateRoomPolicy, {
        room: 'lobby',
        policy: { [`${list}Capabilities`]: capabilities },
        updateMask: { paths: [`${list}_capabilities`] },
        ...on,
      });
    const lacks = async (capability: string, call: Promise<unknown>) =>
      expect(await failureOf(call)).toMatchObject({
        code: 'PERMISSION_DENIED',
        reason: 'CAPABILITY_REQUIRED',
        metadata: { capability },
      });

    await lacks('moderate.ban', update('audience', ['chat.send', 'moderate.ban'], { actor }));
    // An audience has it by default, a broadcast audience does not.
    await lacks('publish.audio', update('audience', ['publish.audio'], { actor }));
    await lacks('room.hidden', update('host', ['room.hidden'], { actor }));
    // The actor's own capabilities, existing grants, and removals are allowed.
    await update('audience', ['chat.send', 'moderate.kick', 'subscribe.audio'], { actor });
    await update('host', ['room.end'], { actor });
    // An empty list grants all defaults of a role.
    await lacks('moderate.ban', update('host', [], { actor }));
    await update('host', []);
    await update('audience', ['room.hidden', 'moderate.ban']);
    await update('audience', ['moderate.ban'], { actor });
  });

  test('FAILED_PRECONDITION when the room has ended', async () => {
    const control = controlOf(await app.signUp());
    await createRooms(control, 'lobby');
    await control.call(endRoom, { room: 'lobby' });
    const failure = await failureOf(control.call(updateRoomPolicy, { ...LOCK, room: 'lobby' }));
    expect(failure).toMatchObject({ code: 'FAILED_PRECONDITION', preconditions: ['ROOM_ENDED'] });
  });
});

describe('EndRoom', () => {
  test('participants who left long ago are not touched, however many there are', async () => {
    const tenant = await app.signUp();
    const control = controlOf(tenant);
    const { room } = await control.call(createRoom, { room: 'lobby' });
    const { db } = app.service.deps;
    const id = parseTenantId(tenant.id);
    const usersOfEpoch = async (epoch: number) => {
      const { rows } = await db.query(
        'select count(*)::integer as count from participants where tenant_id = $1 and epoch = $2',
        [id, epoch],
      );
      return rows[0].count;
    };
    await db.query(
      `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at,
                                 left_at, leave_reason)
       select $1, $2, 'user-' || n, '', 'audience', 20, '{}',
              now() + case when n > 1 then interval '-1 day' else interval '1 hour' end,
              case when n > 1 then now() - interval '1 day' end, case when n > 1 then 'expired' end
         from generate_series(1, 1000) n`,
      [id, room!.uid],
    );
    await control.call(endRoom, { room: 'lobby' });
    expect([await usersOfEpoch(0), await usersOfEpoch(1)]).toStrictEqual([999, 1]);
  });

  test('all participants leave, with events', async () => {
    const tenant = await app.paidTenant();
    const control = controlOf(tenant);
    await createRooms(control, 'lobby');
    await mint(control, 'lobby', 'ann', []);
    await mint(control, 'lobby', 'bob', []);
    const { room } = await control.call(endRoom, { room: 'lobby' });
    expect(room).toMatchObject({ state: Room_State.ENDED, endReason: 'ended', participantCount: 0 });
    expect(room!.endTime).toBeDefined();
    expect(await eventsOf(tenant)).toStrictEqual([
      { type: 'room_created', room: 'lobby' },
      { type: 'participant_entered', room: 'lobby', username: 'ann' },
      { type: 'participant_entered', room: 'lobby', username: 'bob' },
      { type: 'participant_left', room: 'lobby', username: 'ann' },
      { type: 'participant_left', room: 'lobby', username: 'bob' },
      { type: 'room_ended', room: 'lobby' },
    ]);
  });

  test('the name can be used again, by another room', async () => {
    const control = controlOf(await app.signUp());
    const [first] = await createRooms(control, 'lobby');
    await control.call(endRoom, { room: 'lobby' });
    const [second] = await createRooms(control, 'lobby');
    expect(second!.uid).not.toBe(first!.uid);
    expect((await control.call(getRoom, { room: 'lobby' })).room).toStrictEqual(second);
    expect((await control.call(getRoom, { room: '', roomUid: first!.uid })).room!.state).toBe(
      Room_State.ENDED,
    );
  });

  test('one of twenty concurrent calls ends it', async () => {
    const tenant = await app.signUp();
    const control = controlOf(tenant);
    await createRooms(control, 'lobby');
    const ends = Array.from({ length: 20 }, () => control.call(endRoom, { room: 'lobby' }));
    const outcomes = await Promise.allSettled(ends);
    expect(outcomes.filter((each) => each.status === 'fulfilled')).toHaveLength(1);
    for (const each of outcomes) {
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ reason: 'ROOM_ENDED' });
    }
    expect((await eventsOf(tenant)).filter((event) => event.type === 'room_ended')).toHaveLength(1);
  });

  test('FAILED_PRECONDITION when it has ended, but the first answer for the same idempotency key', async () => {
    const control = controlOf(await app.signUp());
    await createRooms(control, 'lobby');
    const first = await control.call(endRoom, { room: 'lobby', idempotencyKey: 'end-1' });
    expect(await control.call(endRoom, { room: 'lobby', idempotencyKey: 'end-1' })).toStrictEqual(first);
    for (const idempotencyKey of ['', 'end-2']) {
      const failure = await failureOf(control.call(endRoom, { room: 'lobby', idempotencyKey }));
      expect(failure).toMatchObject({ code: 'FAILED_PRECONDITION', preconditions: ['ROOM_ENDED'] });
    }
  });

  test('PERMISSION_DENIED for an actor without room.end', async () => {
    const control = controlOf(await app.paidTenant());
    await createRooms(control, 'lobby', 'stage');
    const guest = await mint(control, 'lobby', 'guest', ['room.update_policy']);
    const elsewhere = await mint(control, 'stage', 'host', ['room.end']);
    for (const actor of [guest, elsewhere, NOBODY]) {
      const failure = await failureOf(control.call(endRoom, { room: 'lobby', actor }));
      expect(failure).toMatchObject({
        code: 'PERMISSION_DENIED',
        reason: 'CAPABILITY_REQUIRED',
        metadata: { capability: 'room.end' },
      });
    }
    const host = await mint(control, 'lobby', 'host', ['room.end']);
    const { room } = await control.call(endRoom, { room: 'lobby', actor: host });
    expect(room!.state).toBe(Room_State.ENDED);
  });

  test("NOT_FOUND, also for another tenant's room", async () => {
    const [control, other] = [controlOf(await app.signUp()), controlOf(await app.signUp())];
    await createRooms(other, 'theirs');
    for (const room of ['none', 'theirs']) {
      expect(await failureOf(control.call(endRoom, { room }))).toMatchObject({ code: 'NOT_FOUND' });
    }
  });
});
