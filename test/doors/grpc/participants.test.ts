import { Event_Type } from '@boxoffice/contract/event';
import { Participant_State } from '@boxoffice/contract/participant';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import type { MessageShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { ServiceError } from '@grpc/grpc-js';
import { beforeAll, describe, expect, test } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { endRoom, spendAll } from '../../support/devices.ts';
import { CallError, failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { lapse, mint, newThumbprint } from './mint.ts';

const app = useService();
const controlOf = useControl(app);
const { method } = ParticipantService;

/** A tenant with credit and a live room `lobby`. */
async function newRoom() {
  const tenant = await app.paidTenant();
  const control = controlOf(tenant);
  const { room } = await control.call(RoomService.method.createRoom, { room: 'lobby' });
  return { tenant, control, roomUid: room!.uid };
}

const get = async (control: TestControl, username: string, fields: object = {}) =>
  (await control.call(method.getParticipant, { room: 'lobby', username, ...fields })).participant!;
const list = (control: TestControl, fields: object = {}) =>
  control.call(method.listParticipants, { room: 'lobby', ...fields });
const namesOf = async (control: TestControl, fields: object = {}) =>
  (await list(control, fields)).participants.map((each) => each.username);

const refusal = async (call: Promise<unknown>) => {
  const { code, reason, fields } = await failureOf(call);
  return { is: `${code} ${reason}`, ...(fields.length > 0 && { field: fields.join() }) };
};

/** A participant, and how requests name the participant as the actor. */
async function enter(control: TestControl, username: string, capabilities: string[]) {
  const { deviceThumbprint } = await mint(control, { username, capabilities });
  return { username, deviceThumbprint };
}

describe('GetParticipant', () => {
  test('shows what tokens grant a participant', async () => {
    const { tenant, control, roomUid } = await newRoom();
    const before = Date.now();
    const first = await mint(control, {
      deviceThumbprint: `${'B'.repeat(42)}A`,
      role: 'host',
      lifetime: { seconds: 900n },
    });
    const second = await mint(control, {
      deviceThumbprint: 'A'.repeat(43),
      capabilities: ['publish.audio', 'chat.send'],
      rank: 7,
    });
    const participant = await get(control, 'Ann');
    expect(participant).toMatchObject({
      room: 'lobby',
      roomUid,
      username: 'ann',
      state: Participant_State.PRESENT,
      role: 'audience',
      rank: 7,
      capabilities: ['chat.send', 'publish.audio'],
      tier: '',
      muted: [],
      publishRevoked: [],
      expireTime: first.expireTime,
      leaveReason: '',
    });
    expect(participant.lastSeenTime).toBeUndefined();
    expect(participant.leaveTime).toBeUndefined();
    expect(Math.abs(timestampDate(participant.enterTime!).getTime() - before)).toBeLessThan(60_000);
    expect(
      participant.devices.map(({ thumbprint, keyId, expireTime }) => ({ thumbprint, keyId, expireTime })),
    ).toStrictEqual(
      [second, first].map(({ deviceThumbprint: thumbprint, expireTime }) => ({
        thumbprint,
        keyId: tenant.keyId,
        expireTime,
      })),
    );
  });

  test('leaves out capabilities that a moderator has revoked', async () => {
    const { tenant, control } = await newRoom();
    await mint(control, { capabilities: ['publish.audio', 'publish.video', 'publish.data', 'chat.send'] });
    await app.service.deps.db.query(
      `update participants set muted = '{audio}', publish_revoked = '{video}' where tenant_id = $1`,
      [parseTenantId(tenant.id)],
    );
    expect(await get(control, 'ann')).toMatchObject({
      capabilities: ['chat.send', 'publish.data'],
      muted: [TrackKind.AUDIO],
      publishRevoked: [TrackKind.VIDEO],
    });
  });

  test('a participant whose token expired has left at that time, swept or not', async () => {
    const { tenant, control } = await newRoom();
    await mint(control);
    await lapse(app, tenant);
    const left = await get(control, 'ann');
    expect(left).toMatchObject({ state: Participant_State.LEFT, leaveReason: 'expired', devices: [] });
    expect(left.leaveTime).toStrictEqual(left.expireTime);
  });

  test('rooms that have ended are read, by name or by uid, and without credit', async () => {
    const { tenant, control, roomUid } = await newRoom();
    await mint(control);
    await control.call(RoomService.method.createRoom, { room: 'other' });
    await endRoom(app, tenant, 'lobby');
    await spendAll(app, tenant);
    expect((await get(control, 'ann')).roomUid).toBe(roomUid);
    await control.call(RoomService.method.createRoom, { room: 'lobby' });
    expect(await refusal(get(control, 'ann'))).toStrictEqual({ is: 'NOT_FOUND NOT_FOUND' });
    expect((await get(control, 'ann', { roomUid })).roomUid).toBe(roomUid);
    expect((await get(control, 'ann', { room: '', roomUid })).roomUid).toBe(roomUid);
    expect(await refusal(get(control, 'ann', { room: 'other', roomUid }))).toStrictEqual({
      is: 'NOT_FOUND NOT_FOUND',
    });
    expect(await namesOf(control, { roomUid, includeLeft: true })).toStrictEqual(['ann']);
  });

  test('NOT_FOUND: a room of another tenant, an unknown room, an unknown participant', async () => {
    const { control, roomUid } = await newRoom();
    await mint(control);
    const stranger = (await newRoom()).control;
    const failures = await Promise.all([
      failureOf(get(stranger, 'ann')),
      failureOf(get(stranger, 'ann', { room: '', roomUid })),
      failureOf(get(stranger, 'ann', { room: 'absent' })),
      failureOf(get(control, 'bob')),
    ]);
    expect(failures.map(({ code, reason }) => `${code} ${reason}`)).toStrictEqual(
      failures.map(() => 'NOT_FOUND NOT_FOUND'),
    );
    expect(failures.map(({ message }) => message)).toStrictEqual([
      'participant not found',
      'room not found',
      'room not found',
      'participant not found',
    ]);
  });
});

describe('ListParticipants', () => {
  test('by name, those who are present, or all', async () => {
    const { tenant, control } = await newRoom();
    for (const username of ['cem', 'ann', 'bob']) await mint(control, { username });
    await lapse(app, tenant, { username: 'bob' });
    expect(await namesOf(control)).toStrictEqual(['ann', 'cem']);
    expect(await namesOf(control, { includeLeft: true })).toStrictEqual(['ann', 'bob', 'cem']);
  });

  test('page by page, all from the room of the first page', async () => {
    const { tenant, control, roomUid } = await newRoom();
    const users = Array.from({ length: 7 }, (_, index) => `user${index}`);
    for (const username of users) await mint(control, { username });
    const first = await list(control, { pageSize: 3, includeLeft: true });
    await lapse(app, tenant);
    await endRoom(app, tenant, 'lobby');
    await control.call(RoomService.method.createRoom, { room: 'lobby' });
    const seen = first.participants.map((each) => each.username);
    let pageToken = first.nextPageToken;
    while (pageToken !== '') {
      const page = await list(control, { pageSize: 3, pageToken, includeLeft: true });
      expect(page.participants.every((each) => each.roomUid === roomUid)).toBe(true);
      seen.push(...page.participants.map((each) => each.username));
      pageToken = page.nextPageToken;
    }
    expect(seen).toStrictEqual(users);
    expect(await namesOf(control, { includeLeft: true })).toStrictEqual([]);
    const whole = await list(control, { roomUid, pageSize: 7, includeLeft: true });
    expect(whole.nextPageToken).toBe('');
  });

  test('50 by default', async () => {
    const { tenant, control, roomUid } = await newRoom();
    await app.service.deps.db.query(
      `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
       select $1, $2, 'u' || n, 'u' || n, 'audience', 20, '{}', now() + interval '1 hour'
         from generate_series(101, 151) n`,
      [parseTenantId(tenant.id), roomUid],
    );
    const page = await list(control);
    expect(page.participants.map((each) => each.username)).toStrictEqual(
      Array.from({ length: 50 }, (_, index) => `u${101 + index}`),
    );
    expect(await namesOf(control, { pageToken: page.nextPageToken })).toStrictEqual(['u151']);
  });
});

describe('INVALID_ARGUMENT', () => {
  let control: TestControl;
  let roomUid: string;
  beforeAll(async () => {
    ({ control, roomUid } = await newRoom());
    await mint(control);
  });
  const invalid = (field: string) => ({ is: 'INVALID_ARGUMENT INVALID_REQUEST', field });

  test.each([
    [{ room: '' }, 'room'],
    [{ room: 'a/b' }, 'room'],
    [{ roomUid: 'lobby' }, 'room_uid'],
    [{ actor: { username: '', deviceThumbprint: newThumbprint() } }, 'actor.username'],
    [{ actor: { username: 'ann', deviceThumbprint: 'abc' } }, 'actor.device_thumbprint'],
  ])('both: %j', async (fields, field) => {
    expect(await refusal(get(control, 'ann', fields))).toStrictEqual(invalid(field));
    expect(await refusal(list(control, fields))).toStrictEqual(invalid(field));
  });

  test.each(['', 'a b', 'a\0'])('username %j', async (username) => {
    expect(await refusal(get(control, username))).toStrictEqual(invalid('username'));
  });

  test.each([
    [{ pageSize: -1 }, 'page_size'],
    [{ pageSize: 501 }, 'page_size'],
    [{ pageToken: 'abc' }, 'page_token'],
    [{ pageToken: tokenOf('lobby', 'ann') }, 'page_token'],
    [{ pageToken: tokenOf(`rm_${'0'.repeat(32)}`) }, 'page_token'],
  ])('%j', async (fields, field) => {
    expect(await refusal(list(control, fields))).toStrictEqual(invalid(field));
  });

  test('a page token of another room', async () => {
    const strangers = await newRoom();
    await control.call(RoomService.method.createRoom, { room: 'attic' });
    await mint(control, { room: 'attic' });
    await mint(control, { room: 'attic', username: 'bob' });
    const { nextPageToken } = await list(control, { room: 'attic', pageSize: 1 });
    const absent = tokenOf(`rm_${'0'.repeat(32)}`, 'ann');
    for (const pageToken of [nextPageToken, absent, tokenOf(strangers.roomUid, 'ann')]) {
      for (const reference of [{ room: 'lobby' }, { roomUid }, { room: 'absent' }]) {
        expect(await refusal(list(control, { ...reference, pageToken }))).toStrictEqual(
          invalid('page_token'),
        );
      }
    }
  });

  test('comes before the room is looked up', async () => {
    expect(await refusal(get(control, '', { room: 'absent' }))).toStrictEqual(invalid('username'));
  });
});

function tokenOf(...parts: string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

describe('an actor', () => {
  test('sees the roster with `roster.view`, on a device that was admitted', async () => {
    const { control } = await newRoom();
    const viewer = await enter(control, 'viewer', ['roster.view']);
    const blind = await enter(control, 'blind', ['chat.send']);
    expect(await namesOf(control, { actor: viewer })).toStrictEqual(['blind', 'viewer']);
    expect((await get(control, 'blind', { actor: viewer })).username).toBe('blind');
    const nobodies = [
      blind,
      { ...viewer, deviceThumbprint: newThumbprint() },
      { username: 'absent', deviceThumbprint: newThumbprint() },
    ];
    for (const actor of nobodies) {
      for (const call of [() => list(control, { actor }), () => get(control, 'viewer', { actor })]) {
        expect(await failureOf(call())).toMatchObject({
          code: 'PERMISSION_DENIED',
          reason: 'CAPABILITY_REQUIRED',
          metadata: { capability: 'roster.view' },
        });
      }
    }
  });

  test('sees nothing of another room, or after its token expired', async () => {
    const { tenant, control } = await newRoom();
    const actor = await enter(control, 'viewer', ['roster.view']);
    await control.call(RoomService.method.createRoom, { room: 'other' });
    const denied = { is: 'PERMISSION_DENIED CAPABILITY_REQUIRED' };
    expect(await refusal(list(control, { room: 'other', actor }))).toStrictEqual(denied);
    await lapse(app, tenant);
    expect(await refusal(list(control, { actor }))).toStrictEqual(denied);
  });

  test('NOT_FOUND comes before the missing capability', async () => {
    const { control } = await newRoom();
    const actor = await enter(control, 'blind', ['chat.send']);
    expect(await refusal(get(control, 'absent', { actor }))).toStrictEqual({ is: 'NOT_FOUND NOT_FOUND' });
    expect(await refusal(list(control, { room: 'absent', actor }))).toStrictEqual({
      is: 'NOT_FOUND NOT_FOUND',
    });
  });

  test('does not see hidden participants, except itself; the tenant sees all', async () => {
    const { control } = await newRoom();
    const viewer = await enter(control, 'viewer', ['roster.view']);
    const ghost = await enter(control, 'ghost', ['room.hidden', 'roster.view']);
    await enter(control, 'shade', ['room.hidden']);
    expect(await namesOf(control)).toStrictEqual(['ghost', 'shade', 'viewer']);
    expect(await namesOf(control, { actor: viewer })).toStrictEqual(['viewer']);
    expect(await namesOf(control, { actor: viewer, pageSize: 1 })).toStrictEqual(['viewer']);
    expect(await namesOf(control, { actor: ghost })).toStrictEqual(['ghost', 'viewer']);
    expect((await get(control, 'ghost')).username).toBe('ghost');
    expect((await get(control, 'ghost', { actor: ghost })).username).toBe('ghost');
    const [hidden, absent] = await Promise.all(
      ['ghost', 'absent'].map((username) => failureOf(get(control, username, { actor: viewer }))),
    );
    expect(hidden).toBeInstanceOf(CallError);
    expect([hidden!.code, hidden!.reason, hidden!.message]).toStrictEqual([
      absent!.code,
      absent!.reason,
      absent!.message,
    ]);
  });
});

describe('WatchParticipants', () => {
  const { watchParticipants } = method;
  type Told = MessageShape<typeof watchParticipants.output>;
  const nameOf = (type: Event_Type) =>
    Object.entries(Event_Type)
      .find(([, value]) => value === type)![0]
      .toLowerCase()
      .replace('participant_', '');

  /** The messages of a stream so far, and its failure, if it has failed. */
  function watch(control: TestControl, fields: object = {}) {
    const abort = new AbortController();
    const stream = control.follow(watchParticipants, { room: 'lobby', ...fields }, { signal: abort.signal });
    const told: Told[] = [];
    const failed = new Promise<CallError>((resolve) => {
      stream.on('error', (error: ServiceError) => resolve(new CallError(error)));
    });
    stream.on('data', (response: Told) => told.push(response));
    const words = () =>
      told.map(({ event }) => {
        const who = event!.kind.case === 'participant' ? ` ${event!.kind.value.username}` : '';
        return nameOf(event!.type) + who;
      });
    return { told, words, failed, stop: () => abort.abort() };
  }

  test('shows present participants, then entries, changes and leaves, in rooms of that name only', async () => {
    const { tenant, control } = await newRoom();
    await control.call(RoomService.method.createRoom, { room: 'other' });
    await mint(control, { username: 'ann' });
    const watching = watch(control);
    const { words } = watching;
    await expect.poll(words).toStrictEqual(['reset', 'snapshot ann', 'bookmark']);
    await mint(control, { room: 'other', username: 'cem' });
    const { deviceThumbprint } = await mint(control, { username: 'bob' });
    await mint(control, { username: 'bob', deviceThumbprint });
    await mint(control, { username: 'bob', deviceThumbprint, role: 'host' });
    await lapse(app, tenant, { username: 'ann' });
    const first = ['reset', 'snapshot ann', 'bookmark', 'entered bob', 'updated bob', 'left ann'];
    await expect.poll(words).toStrictEqual(first);
    watching.stop();

    await mint(control, { username: 'dan' });
    const resumed = watch(control, { resumeToken: watching.told[3]!.resumeToken });
    await expect.poll(resumed.words).toStrictEqual(['updated bob', 'left ann', 'entered dan']);
    resumed.stop();
  });

  test('refusals and their order', async () => {
    const { control } = await newRoom();
    const blind = await enter(control, 'blind', ['chat.send']);
    const invalid = { code: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' };
    const cases: [object, object][] = [
      [{ room: '' }, { ...invalid, fields: ['room'] }],
      [
        { room: 'absent', resumeToken: 'abc' },
        { ...invalid, fields: ['resume_token'] },
      ],
      [
        { room: 'absent', actor: { username: 'ann' } },
        { ...invalid, fields: ['actor.device_thumbprint'] },
      ],
      [
        { room: 'absent', actor: blind },
        { code: 'NOT_FOUND', reason: 'NOT_FOUND' },
      ],
      [{ actor: blind }, { code: 'PERMISSION_DENIED', reason: 'CAPABILITY_REQUIRED' }],
    ];
    for (const [fields, expected] of cases) {
      expect(await watch(control, fields).failed).toMatchObject(expected);
    }
  });

  test("an actor does not see hidden participants, and the stream ends with the actor's token", async () => {
    const { tenant, control } = await newRoom();
    await enter(control, 'ghost', ['room.hidden']);
    const actor = await enter(control, 'viewer', ['roster.view']);
    const [whole, watching] = [watch(control), watch(control, { actor })];
    await expect.poll(watching.words).toStrictEqual(['reset', 'snapshot viewer', 'bookmark']);
    await enter(control, 'shade', ['room.hidden']);
    await enter(control, 'bob', ['chat.send']);
    await expect.poll(watching.words).toStrictEqual(['reset', 'snapshot viewer', 'bookmark', 'entered bob']);
    await expect
      .poll(whole.words)
      .toStrictEqual([
        'reset',
        'snapshot ghost',
        'snapshot viewer',
        'bookmark',
        'entered shade',
        'entered bob',
      ]);
    await lapse(app, tenant, { username: 'viewer' });
    expect(await watching.failed).toMatchObject({
      code: 'PERMISSION_DENIED',
      reason: 'CAPABILITY_REQUIRED',
    });
    expect(watching.words()).toHaveLength(4);
    whole.stop();

    // A stream resumed without the actor would miss participants that were hidden from the actor.
    const { resumeToken } = watching.told[3]!;
    const other = await watch(control, { resumeToken }).failed;
    expect(other).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['resume_token'] });
  });
});
