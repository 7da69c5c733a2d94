import { ModerationEvent_Action } from '@boxoffice/contract/moderation';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { Participant_State } from '@boxoffice/contract/participant';
import { ParticipantService } from '@boxoffice/contract/participant_service';
import { Room_State } from '@boxoffice/contract/room';
import { RoomService } from '@boxoffice/contract/room_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { beforeAll, describe, expect, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import {
  actor,
  deviceOf,
  eventsSince,
  lastSeq,
  type Mint,
  mint,
  newStage,
  passBans,
  read,
  type Stage,
} from '../../control/moderation/support.ts';
import { expectAppendOnly } from '../../support/append-only.ts';
import {
  createCredential,
  deviceKey,
  expectJoined,
  join,
  spendAll,
  thumbprint,
} from '../../support/devices.ts';
import { failureOf, useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);
const {
  kickParticipant,
  banSubject,
  unbanSubject,
  listBans,
  forceMute,
  releaseMute,
  revokePublish,
  restorePublish,
  closeRoom,
  listModerationEvents,
} = ModerationService.method;
const { getParticipant } = ParticipantService.method;

const NOT_FOUND = { code: 'NOT_FOUND', reason: 'NOT_FOUND' };
const INVALID = { code: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' };
const NO_CAPABILITY = { code: 'PERMISSION_DENIED', reason: 'CAPABILITY_REQUIRED' };
const NO_STANDING = { code: 'PERMISSION_DENIED', reason: 'INSUFFICIENT_STANDING' };
const BANNED = { code: 'PERMISSION_DENIED', reason: 'BANNED' };
const ENDED = { code: 'FAILED_PRECONDITION', reason: 'ROOM_ENDED', preconditions: ['ROOM_ENDED'] };

const HOST: Mint = { role: 'host' };
const MODERATOR: Mint = { role: 'host', rank: 60 };

const newRoom = () => newStage(app, controlOf);
const user = (value: string) => ({ subject: { case: 'username', value } as const });
const device = (value: string) => ({ subject: { case: 'deviceThumbprint', value } as const });
const cidr = (value: string) => ({ subject: { case: 'cidr', value } as const });

/** Methods on one participant, each with a request that is valid once `bob` is in the room. */
const ON_PARTICIPANTS = [
  ['KickParticipant', kickParticipant, {}],
  ['ForceMute', forceMute, { tracks: [TrackKind.AUDIO] }],
  ['ReleaseMute', releaseMute, { tracks: [TrackKind.AUDIO] }],
  ['RevokePublish', revokePublish, { tracks: [TrackKind.AUDIO] }],
  ['RestorePublish', restorePublish, { tracks: [TrackKind.AUDIO] }],
] as const;

type OnParticipant = typeof kickParticipant;

describe.each(ON_PARTICIPANTS)('%s', (name, itsMethod, fields) => {
  const method = itsMethod as OnParticipant;
  const request = { room: 'lobby', username: 'bob', ...fields };
  let stage: Stage;
  beforeAll(async () => {
    stage = await newRoom();
    await mint(stage, 'bob');
    await mint(stage, 'ann', HOST);
  });
  const fail = (changed: object) => failureOf(stage.control.call(method, { ...request, ...changed }));

  test('emits an event and a record, with actor and reason', async () => {
    const before = await lastSeq(app, stage.tenant);
    const answer = await stage.control.call(method, { ...request, reason: 'noise', actor: actor('ann') });
    expect(answer.participant).toMatchObject({ username: 'bob', room: 'lobby', roomUid: stage.roomUid });
    expect(answer.event).toMatchObject({
      id: before + 1n,
      room: 'lobby',
      roomUid: stage.roomUid,
      subject: { case: 'username', value: 'bob' },
      tracks: 'tracks' in fields ? fields.tracks : [],
      reason: 'noise',
      actor: 'ann',
      keyId: stage.tenant.keyId,
      watchdogId: '',
    });
    const { events } = await stage.control.call(listModerationEvents, {});
    expect(events[0]).toEqual(answer.event);
    const told = await eventsSince(app, stage.tenant, before);
    expect(told.map((each) => each.type)).toEqual([
      'moderation',
      name === 'KickParticipant' ? 'participant_left' : 'participant_updated',
    ]);
    const { rows } = await app.service.deps.db.query(
      'select last_revocation >= $2 as told from event_streams where tenant_id = $1',
      [parseTenantId(stage.tenant.id), answer.event!.id],
    );
    expect(rows).toEqual([{ told: true }]);
    await mint(stage, 'bob');
  });

  test('works for the tenant itself, on any participant', async () => {
    const answer = await stage.control.call(method, { ...request, username: 'ann' });
    expect(answer.event).toMatchObject({ actor: '', subject: { value: 'ann' } });
    await mint(stage, 'ann', HOST);
  });

  test('takes effect once for each idempotency key', async () => {
    await mint(stage, 'cat');
    const once = { ...request, username: 'cat', idempotencyKey: `once ${name}` };
    const answers = [await stage.control.call(method, once), await stage.control.call(method, once)];
    expect(answers[1]).toEqual(answers[0]);
    const { events } = await stage.control.call(listModerationEvents, { username: 'cat' });
    expect(events).toHaveLength(1);
    expect(await fail({ idempotencyKey: once.idempotencyKey })).toMatchObject({
      code: 'INVALID_ARGUMENT',
      reason: 'IDEMPOTENCY_KEY_REUSED',
    });
  });

  test.each([
    ['room', { room: '' }],
    ['room', { room: '-lobby' }],
    ['username', { username: '' }],
    ['username', { username: 'b b' }],
    ['reason', { reason: 'x'.repeat(501) }],
    ['reason', { reason: '\0' }],
    ['actor.username', { actor: { username: '', deviceThumbprint: deviceOf('ann') } }],
    ['actor.device_thumbprint', { actor: { username: 'ann' } }],
  ])('INVALID_ARGUMENT: %s', async (field, changed) => {
    expect(await fail(changed)).toMatchObject({ ...INVALID, fields: [field] });
  });

  if ('tracks' in fields) {
    test.each([
      ['tracks', []],
      ['tracks[0]', [TrackKind.UNSPECIFIED]],
      ['tracks[1]', [TrackKind.AUDIO, 9 as TrackKind]],
    ])('INVALID_ARGUMENT: %s %j', async (field, tracks) => {
      expect(await fail({ tracks })).toMatchObject({ ...INVALID, fields: [field] });
    });
  }

  test('NOT_FOUND: room, user, and those of another tenant', async () => {
    expect(await fail({ room: 'nowhere' })).toMatchObject(NOT_FOUND);
    expect(await fail({ username: 'nobody' })).toMatchObject(NOT_FOUND);
    const other = await newRoom();
    expect(await failureOf(other.control.call(method, request))).toMatchObject(NOT_FOUND);
  });

  test('NOT_FOUND before what the actor may do', async () => {
    expect(await fail({ username: 'nobody', actor: actor('bob') })).toMatchObject(NOT_FOUND);
  });

  test('PERMISSION_DENIED: capability', async () => {
    expect(await fail({ username: 'ann', actor: actor('bob') })).toMatchObject({
      ...NO_CAPABILITY,
      metadata: { capability: expect.stringMatching(/^moderate\./) },
    });
    expect(await fail({ actor: actor('nobody') })).toMatchObject(NO_CAPABILITY);
    const elsewhere = { username: 'ann', deviceThumbprint: deviceOf('another') };
    expect(await fail({ actor: elsewhere })).toMatchObject(NO_CAPABILITY);
  });

  test('PERMISSION_DENIED: standing over equals, higher ranks and oneself', async () => {
    await mint(stage, 'mod', MODERATOR);
    await mint(stage, 'peer', MODERATOR);
    for (const username of ['peer', 'ann', 'mod']) {
      expect(await fail({ username, actor: actor('mod') })).toMatchObject(NO_STANDING);
    }
  });

  test('FAILED_PRECONDITION: the room has ended', async () => {
    const closed = await newRoom();
    await mint(closed, 'bob');
    await closed.control.call(closeRoom, { room: 'lobby' });
    expect(await failureOf(closed.control.call(method, request))).toMatchObject(ENDED);
    // The participant who acted in the room has left it, which would be reported first.
    const byActor = { ...request, actor: actor('bob') };
    expect(await failureOf(closed.control.call(method, byActor))).toMatchObject(NO_CAPABILITY);
  });
});

describe('without credit', () => {
  test('moderation works for tenants that spent it, are suspended or archived', async () => {
    const stage = await newRoom();
    await mint(stage, 'bob');
    await spendAll(app, stage.tenant);
    const id = parseTenantId(stage.tenant.id)!;
    for (const status of ['active', 'suspended', 'archived'] as const) {
      if (status !== 'active') await changeStatus(app.service.deps.db, OPERATOR, id, status, 'a test');
      const { control } = stage;
      for (const [, itsMethod, fields] of ON_PARTICIPANTS) {
        await control.call(itsMethod as OnParticipant, { room: 'lobby', username: 'bob', ...fields });
      }
      await control.call(banSubject, { room: 'lobby', ...user('bob') });
      await control.call(unbanSubject, { room: 'lobby', ...user('bob') });
      expect((await control.call(listBans, {})).bans).toEqual([]);
    }
    await stage.control.call(closeRoom, { room: 'lobby' });
    expect((await stage.control.call(listModerationEvents, {})).events).toHaveLength(22);
  });

  test('it works for a tenant that never paid', async () => {
    const control = controlOf(await app.signUp());
    await control.call(RoomService.method.createRoom, { room: 'lobby' });
    await control.call(banSubject, { room: 'lobby', ...user('bob') });
    await control.call(closeRoom, { room: 'lobby' });
  });
});

describe('KickParticipant', () => {
  test('voids tokens; the next one is of a new epoch', async () => {
    const stage = await newRoom();
    expect(await read(app, await mint(stage, 'bob'))).toMatchObject({ ep: 0 });
    const { participant, event } = await stage.control.call(kickParticipant, {
      room: 'lobby',
      username: 'Bob',
    });
    expect(participant).toMatchObject({ state: Participant_State.LEFT, leaveReason: 'kicked', devices: [] });
    expect(event).toMatchObject({ action: ModerationEvent_Action.KICK });
    expect(await read(app, await mint(stage, 'bob'))).toMatchObject({ ep: 1 });
  });

  test('also for a participant that has left', async () => {
    const stage = await newRoom();
    await mint(stage, 'bob');
    await stage.control.call(kickParticipant, { room: 'lobby', username: 'bob' });
    const before = await lastSeq(app, stage.tenant);
    const again = await stage.control.call(kickParticipant, { room: 'lobby', username: 'bob' });
    expect(again.participant).toMatchObject({ state: Participant_State.LEFT, leaveReason: 'kicked' });
    expect((await eventsSince(app, stage.tenant, before)).map((each) => each.type)).toEqual(['moderation']);
    expect(await read(app, await mint(stage, 'bob'))).toMatchObject({ ep: 2 });
  });
});

describe.each([
  ['ForceMute', forceMute, releaseMute, 'muted', ModerationEvent_Action.FORCE_MUTE],
  ['RevokePublish', revokePublish, restorePublish, 'publishRevoked', ModerationEvent_Action.REVOKE_PUBLISH],
] as const)('%s', (_, take, give, list, action) => {
  const takes = take as typeof forceMute;
  const gives = give as typeof releaseMute;
  const bob = { room: 'lobby', username: 'bob' };

  test('removes tracks from tokens until they are returned', async () => {
    const stage = await newRoom();
    const all = await read(app, await mint(stage, 'bob'));
    const taken = await stage.control.call(takes, {
      ...bob,
      tracks: [TrackKind.VIDEO, TrackKind.AUDIO, TrackKind.VIDEO],
    });
    expect(taken.participant![list]).toEqual([TrackKind.AUDIO, TrackKind.VIDEO]);
    expect(taken.participant!.state).toBe(Participant_State.PRESENT);
    expect(taken.participant!.devices).toHaveLength(1);
    expect(taken.participant!.capabilities).not.toContain('publish.video');
    expect(taken.event).toMatchObject({ action, tracks: [TrackKind.AUDIO, TrackKind.VIDEO] });

    const less = await mint(stage, 'bob');
    expect(less.withheldCapabilities).toEqual(['publish.audio', 'publish.video']);
    const { cap, ep } = await read(app, less);
    expect(ep).toBe(0);
    expect(cap).toEqual(all.cap.filter((each) => !less.withheldCapabilities.includes(each)));

    const given = await stage.control.call(gives, { ...bob, tracks: [TrackKind.VIDEO, TrackKind.SCREEN] });
    expect(given.participant![list]).toEqual([TrackKind.AUDIO]);
    await stage.control.call(gives, { ...bob, tracks: [TrackKind.AUDIO] });
    const more = await mint(stage, 'bob');
    expect(more.withheldCapabilities).toEqual([]);
    expect(await read(app, more)).toEqual(all);
  });

  test('survives a kick, and a repeated call is recorded again', async () => {
    const stage = await newRoom();
    await mint(stage, 'bob');
    await stage.control.call(takes, { ...bob, tracks: [TrackKind.DATA] });
    await stage.control.call(kickParticipant, bob);
    const again = await stage.control.call(takes, { ...bob, tracks: [TrackKind.DATA] });
    expect(again.participant).toMatchObject({ state: Participant_State.LEFT, [list]: [TrackKind.DATA] });
    expect((await mint(stage, 'bob')).withheldCapabilities).toEqual(['publish.data']);
    const { events } = await stage.control.call(listModerationEvents, {});
    expect(events.map((each) => each.action)).toEqual([action, ModerationEvent_Action.KICK, action]);
  });
});

test('a mute and a revoked right are independent', async () => {
  const stage = await newRoom();
  const bob = { room: 'lobby', username: 'bob', tracks: [TrackKind.AUDIO] };
  await mint(stage, 'bob');
  await stage.control.call(forceMute, bob);
  await stage.control.call(revokePublish, bob);
  const { participant } = await stage.control.call(releaseMute, bob);
  expect(participant).toMatchObject({ muted: [], publishRevoked: [TrackKind.AUDIO] });
  expect((await mint(stage, 'bob')).withheldCapabilities).toEqual(['publish.audio']);
});

describe('each action requires its own capability', () => {
  const onBob = { username: 'bob', tracks: [TrackKind.AUDIO] };
  const wanted = [
    ['moderate.kick', kickParticipant, { username: 'bob' }],
    ['moderate.mute', forceMute, onBob],
    ['moderate.mute', releaseMute, onBob],
    ['moderate.revoke_publish', revokePublish, onBob],
    ['moderate.revoke_publish', restorePublish, onBob],
    ['moderate.ban', banSubject, user('bob')],
    ['moderate.ban', unbanSubject, user('eve')],
    ['moderate.close_room', closeRoom, {}],
  ] as const;
  const all = [...new Set(wanted.map(([capability]) => capability))];

  test.each(wanted)('%s %#', async (capability, itsMethod, fields) => {
    const stage = await newRoom();
    await mint(stage, 'bob');
    await stage.control.call(banSubject, { room: 'lobby', ...user('eve') });
    const act = () =>
      stage.control.call(itsMethod as typeof closeRoom, { room: 'lobby', ...fields, actor: actor('ann') });

    await mint(stage, 'ann', { ...HOST, capabilities: all.filter((each) => each !== capability) });
    expect(await failureOf(act())).toMatchObject({ ...NO_CAPABILITY, metadata: { capability } });
    await mint(stage, 'ann', { ...HOST, capabilities: [capability] });
    // The tenant itself has set the ban, which no participant may lift.
    if (itsMethod.name === 'UnbanSubject') expect(await failureOf(act())).toMatchObject(NO_STANDING);
    else expect((await act()).event).toMatchObject({ actor: 'ann' });
  });
});

describe('BanSubject', () => {
  const HOUR = { seconds: 3600n };
  const MINUTE = { seconds: 60n };

  test('a user: kicked, refused at the next mint, but admitted elsewhere', async () => {
    const stage = await newRoom();
    await stage.control.call(RoomService.method.createRoom, { room: 'hall' });
    await mint(stage, 'bob');
    const before = await lastSeq(app, stage.tenant);
    const { ban, event } = await stage.control.call(banSubject, {
      room: 'lobby',
      ...user('BOB'),
      ttl: HOUR,
      reason: 'spam',
    });
    expect(ban).toMatchObject({
      id: expect.stringMatching(/^ban_[0-9a-f]{32}$/),
      room: 'lobby',
      roomUid: stage.roomUid,
      subject: { case: 'username', value: 'bob' },
      reason: 'spam',
      actor: '',
      rank: 100,
    });
    const length = timestampDate(ban!.expireTime!).getTime() - timestampDate(ban!.createTime!).getTime();
    expect(length).toBe(3_600_000);
    expect(event).toMatchObject({
      action: ModerationEvent_Action.BAN,
      subject: { value: 'bob' },
      time: ban!.createTime,
      expireTime: ban!.expireTime,
    });
    const told = await eventsSince(app, stage.tenant, before);
    expect(told).toMatchObject([
      { type: 'moderation', subject: { action: 'ban' } },
      { type: 'participant_left', subject: { username: 'bob', leaveReason: 'banned' } },
    ]);
    expect(await failureOf(mint(stage, 'bob'))).toMatchObject(BANNED);
    await mint(stage, 'bob', { room: 'hall' });
  });

  test('a user of the whole tenant: kicked in every room', async () => {
    const stage = await newRoom();
    for (const room of ['hall', 'den']) await stage.control.call(RoomService.method.createRoom, { room });
    await mint(stage, 'bob');
    await mint(stage, 'bob', { room: 'hall' });
    await mint(stage, 'ann', { room: 'hall' });
    const before = await lastSeq(app, stage.tenant);
    const { ban, event } = await stage.control.call(banSubject, user('bob'));
    expect(ban).toMatchObject({ room: '', roomUid: '' });
    expect(ban!.expireTime).toBeUndefined();
    expect(event).toMatchObject({ room: '', roomUid: '' });
    const told = await eventsSince(app, stage.tenant, before);
    expect(
      told
        .slice(1)
        .map((each) => (each.subject as { room: string }).room)
        .sort(),
    ).toEqual(['hall', 'lobby']);
    for (const room of ['lobby', 'hall', 'den']) {
      expect(await failureOf(mint(stage, 'bob', { room }))).toMatchObject(BANNED);
    }
    await mint(stage, 'ann', { room: 'hall' });
  });

  test('a device: its users leave, under any name', async () => {
    const stage = await newRoom();
    await mint(stage, 'bob', { device: deviceOf('shared') });
    await mint(stage, 'bea', { device: deviceOf('shared') });
    await mint(stage, 'ann');
    const before = await lastSeq(app, stage.tenant);
    await stage.control.call(banSubject, { room: 'lobby', ...device(deviceOf('shared')) });
    expect(await eventsSince(app, stage.tenant, before)).toMatchObject([
      { type: 'moderation', subject: { subject: { kind: 'device', value: deviceOf('shared') } } },
      { type: 'participant_left', subject: { username: 'bea', leaveReason: 'banned' } },
      { type: 'participant_left', subject: { username: 'bob', leaveReason: 'banned' } },
    ]);
    expect(await failureOf(mint(stage, 'carl', { device: deviceOf('shared') }))).toMatchObject(BANNED);
    expect(await read(app, await mint(stage, 'bob'))).toMatchObject({ ep: 1 });
  });

  test.each(['lobby', ''])(
    'a device of a host who has another one: the host stays (room "%s")',
    async (room) => {
      const stage = await newRoom();
      const { control } = stage;
      const kiosk = deviceKey();
      const { credential } = await createCredential(app, stage.tenant);
      expectJoined(await join(app, credential, { username: 'bob', room: 'lobby', key: kiosk }));
      await mint(stage, 'bob', HOST);
      await mint(stage, 'eve');
      const before = await lastSeq(app, stage.tenant);
      const kioskOf = device(await thumbprint(kiosk));
      await control.call(banSubject, { room, ...kioskOf });

      const devices = [{ thumbprint: deviceOf('bob') }];
      const told = await eventsSince(app, stage.tenant, before);
      expect(told).toMatchObject([
        { type: 'moderation', subject: { action: 'ban' } },
        { type: 'participant_updated', subject: { username: 'bob', leftAt: null, role: 'host', devices } },
      ]);
      expect(told[1]!.subject).toHaveProperty('devices.length', 1);
      const { participant } = await control.call(getParticipant, { room: 'lobby', username: 'bob' });
      expect(participant).toMatchObject({ state: Participant_State.PRESENT, devices });
      expect(participant!.expireTime).toEqual(participant!.devices[0]!.expireTime);

      // The host's token is still valid, and still acts; the kiosk's is refused.
      expect(await read(app, await mint(stage, 'bob', HOST))).toMatchObject({ ep: 0 });
      await control.call(kickParticipant, { room: 'lobby', username: 'eve', actor: actor('bob') });
      const again = await join(app, credential, { username: 'kiosk', room: 'lobby', key: kiosk });
      expect([again.status, again.text]).toEqual([403, 'permission denied: banned']);
    },
  );

  test('a device of a user whose other device has only an expired token: the user leaves', async () => {
    const stage = await newRoom();
    await mint(stage, 'bob', { device: deviceOf('other') });
    await app.service.deps.db.query('update admissions set expires_at = now() where device = $1', [
      deviceOf('other'),
    ]);
    await mint(stage, 'bob');
    await stage.control.call(banSubject, { room: 'lobby', ...device(deviceOf('bob')) });
    expect((await eventsSince(app, stage.tenant)).at(-1)).toMatchObject({
      type: 'participant_left',
      subject: { username: 'bob', leaveReason: 'banned' },
    });
    expect(await read(app, await mint(stage, 'bob', { device: deviceOf('other') }))).toMatchObject({ ep: 1 });
  });

  test('a range of addresses: no participant is kicked, newcomers are refused', async () => {
    const stage = await newRoom();
    await mint(stage, 'bob', { address: '192.0.2.7' });
    const before = await lastSeq(app, stage.tenant);
    const { ban } = await stage.control.call(banSubject, { room: 'lobby', ...cidr('192.0.2.0/24') });
    expect(ban!.subject).toEqual({ case: 'cidr', value: '192.0.2.0/24' });
    expect((await eventsSince(app, stage.tenant, before)).map((each) => each.type)).toEqual(['moderation']);
    for (const address of ['192.0.2.7', '192.0.2.255', '::ffff:192.0.2.7', '::ffff:c000:207']) {
      expect(await failureOf(mint(stage, 'eve', { address }))).toMatchObject(BANNED);
    }
    await mint(stage, 'eve', { address: '192.0.3.0' });
    await mint(stage, 'eve');

    const wide = await stage.control.call(banSubject, cidr('2001:0DB8::/32'));
    expect(wide.ban!.subject.value).toBe('2001:db8::/32');
    expect(await failureOf(mint(stage, 'eve', { address: '2001:db8:ffff::1' }))).toMatchObject(BANNED);
    await mint(stage, 'eve', { address: '2001:db9::1' });
  });

  test('an absent user can be banned', async () => {
    const stage = await newRoom();
    await stage.control.call(banSubject, { room: 'lobby', ...user('eve') });
    expect(await failureOf(mint(stage, 'eve'))).toMatchObject(BANNED);
  });

  test('a repeated ban that ends later, or has a higher rank, extends the ban', async () => {
    const stage = await newRoom();
    await mint(stage, 'mod', MODERATOR);
    await mint(stage, 'ann', HOST);
    const ban = (fields: object) =>
      stage.control.call(banSubject, { room: 'lobby', ...user('bob'), ...fields });
    const first = await ban({ ttl: MINUTE, reason: 'spam', actor: actor('mod') });
    const { id } = first.ban!;
    const isTold = async (since: bigint) =>
      (await eventsSince(app, stage.tenant, since)).map((each) => each.type).join();

    let before = await lastSeq(app, stage.tenant);
    const longer = await ban({ ttl: HOUR, reason: 'more spam', actor: actor('mod') });
    expect(longer.ban).toMatchObject({ id, reason: 'more spam', actor: 'mod', rank: 60 });
    expect(longer.ban!.expireTime!.seconds - first.ban!.expireTime!.seconds).toBeGreaterThan(3_000n);
    expect(longer.event).toMatchObject({
      actor: 'mod',
      reason: 'more spam',
      expireTime: longer.ban!.expireTime,
    });
    expect(await isTold(before)).toBe('moderation');

    const higher = await ban({ ttl: MINUTE, reason: 'shouting', actor: actor('ann') });
    const { expireTime } = longer.ban!;
    expect(higher.ban).toMatchObject({ id, reason: 'shouting', actor: 'ann', rank: 80, expireTime });
    expect(higher.event).toMatchObject({ actor: 'ann', expireTime });

    // The later end came from a lower rank, which still cannot lift the ban.
    const endless = await ban({ reason: 'for ever', actor: actor('mod') });
    expect(endless.ban).toMatchObject({ id, reason: 'for ever', actor: 'ann', rank: 80 });
    expect(endless.ban!.expireTime).toBeUndefined();
    expect(endless.event).toMatchObject({ actor: 'mod' });
    const lift = stage.control.call(unbanSubject, { room: 'lobby', ...user('bob'), actor: actor('mod') });
    expect(await failureOf(lift)).toMatchObject(NO_STANDING);

    before = await lastSeq(app, stage.tenant);
    const own = await ban({ ttl: MINUTE, reason: 'by the tenant' });
    expect(own.ban).toMatchObject({ id, reason: 'by the tenant', actor: '', rank: 100 });
    expect(own.ban!.expireTime).toBeUndefined();
    expect(await isTold(before)).toBe('moderation');
    expect((await stage.control.call(listBans, {})).bans).toEqual([own.ban]);
  });

  test('a repeated ban that is no stronger returns the existing one', async () => {
    const stage = await newRoom();
    const { ban } = await stage.control.call(banSubject, { room: 'lobby', ...user('bob'), reason: 'spam' });
    const before = await lastSeq(app, stage.tenant);
    const again = await stage.control.call(banSubject, {
      room: 'lobby',
      ...user('bob'),
      ttl: HOUR,
      reason: 'x',
    });
    expect(again.ban).toEqual(ban);
    expect(again.event).toBeUndefined();
    expect(await lastSeq(app, stage.tenant)).toBe(before);
    const wider = await stage.control.call(banSubject, user('bob'));
    expect(wider.ban!.id).not.toBe(ban!.id);
  });

  test('expires, and can then be replaced', async () => {
    const stage = await newRoom();
    const { ban } = await stage.control.call(banSubject, { room: 'lobby', ...user('bob'), ttl: HOUR });
    await passBans(app, stage.tenant);
    expect((await stage.control.call(listBans, {})).bans).toEqual([]);
    await mint(stage, 'bob');
    const gone = await failureOf(stage.control.call(unbanSubject, { room: 'lobby', ...user('bob') }));
    expect(gone).toMatchObject(NOT_FOUND);
    const next = await stage.control.call(banSubject, { room: 'lobby', ...user('bob') });
    expect(next.ban!.id).not.toBe(ban!.id);
    expect(next.event).toBeDefined();
    expect(await failureOf(mint(stage, 'bob'))).toMatchObject(BANNED);
  });

  test('holds for the name of its room, and is lifted while no such room is live', async () => {
    const stage = await newRoom();
    const create = () => stage.control.call(RoomService.method.createRoom, { room: 'lobby' });
    const { ban } = await stage.control.call(banSubject, { room: 'lobby', ...user('bob') });
    await stage.control.call(closeRoom, { room: 'lobby' });
    expect((await stage.control.call(listBans, { room: 'lobby' })).bans).toMatchObject([{ id: ban!.id }]);
    await create();
    expect(await failureOf(mint(stage, 'bob'))).toMatchObject(BANNED);
    await stage.control.call(closeRoom, { room: 'lobby' });
    await stage.control.call(unbanSubject, { room: 'lobby', ...user('bob') });
    expect((await stage.control.call(listBans, { room: 'lobby' })).bans).toEqual([]);
    await create();
    await mint(stage, 'bob');
  });

  test("an actor bans lower ranks, present or not, and the ban records the actor's rank", async () => {
    const stage = await newRoom();
    await mint(stage, 'mod', MODERATOR);
    await mint(stage, 'bob');
    const banned = await stage.control.call(banSubject, {
      room: 'lobby',
      ...user('bob'),
      actor: actor('mod'),
    });
    expect(banned.ban).toMatchObject({ actor: 'mod', rank: 60 });
    await stage.control.call(banSubject, { room: 'lobby', ...user('eve'), actor: actor('mod') });
    await stage.control.call(banSubject, { room: 'lobby', ...cidr('192.0.2.0/24'), actor: actor('mod') });
  });

  test('PERMISSION_DENIED: standing over equals, higher ranks and oneself, by name and by device', async () => {
    const stage = await newRoom();
    await mint(stage, 'mod', MODERATOR);
    await mint(stage, 'peer', MODERATOR);
    await mint(stage, 'ann', HOST);
    await mint(stage, 'bob', { device: deviceOf('ann') });
    const ban = (subject: ReturnType<typeof user> | ReturnType<typeof device>) =>
      failureOf(stage.control.call(banSubject, { room: 'lobby', ...subject, actor: actor('mod') }));
    for (const name of ['peer', 'ann', 'mod']) {
      expect(await ban(user(name))).toMatchObject(NO_STANDING);
      expect(await ban(device(deviceOf(name)))).toMatchObject(NO_STANDING);
    }
    await stage.control.call(kickParticipant, { room: 'lobby', username: 'peer' });
    expect(await ban(user('peer'))).toMatchObject(NO_STANDING);
  });

  test('PERMISSION_DENIED: an actor has no standing in the whole tenant', async () => {
    const stage = await newRoom();
    await mint(stage, 'ann', HOST);
    const wide = { ...user('bob'), actor: actor('ann') };
    expect(await failureOf(stage.control.call(banSubject, wide))).toMatchObject(NO_CAPABILITY);
    expect(await failureOf(stage.control.call(unbanSubject, wide))).toMatchObject(NOT_FOUND);
    await stage.control.call(banSubject, user('bob'));
    expect(await failureOf(stage.control.call(unbanSubject, wide))).toMatchObject(NO_CAPABILITY);
  });

  test.each([
    ['subject', {}],
    ['room', { room: 'a/b', ...user('bob') }],
    ['username', user('')],
    ['username', user('b b')],
    ['device_thumbprint', device('')],
    ['device_thumbprint', device('short')],
    ['device_thumbprint', device(`${'A'.repeat(42)}=`)],
    ['cidr', cidr('')],
    ['cidr', cidr('192.0.2.1')],
    ['cidr', cidr('192.0.2.1/24')],
    ['cidr', cidr('::ffff:192.0.2.0/120')],
    ['cidr', cidr('10.0.0.0/7')],
    ['cidr', cidr('192.0.2.0/24\0')],
    ['ttl', { ...user('bob'), ttl: { seconds: -1n } }],
    ['ttl', { ...user('bob'), ttl: { nanos: 1 } }],
    ['ttl', { ...user('bob'), ttl: { seconds: 3_650n * 86_400n + 1n } }],
    ['reason', { ...user('bob'), reason: 'x'.repeat(501) }],
    ['actor.username', { ...user('bob'), actor: {} }],
  ])('INVALID_ARGUMENT: %s %#', async (field, request) => {
    const control = controlOf(await app.signUp());
    expect(await failureOf(control.call(banSubject, request))).toMatchObject({ ...INVALID, fields: [field] });
  });

  test('a ban of 0 s, or of ten years, is allowed', async () => {
    const control = controlOf(await app.signUp());
    const zero = await control.call(banSubject, { ...user('bob'), ttl: {} });
    expect(zero.ban!.expireTime).toBeUndefined();
    const long = await control.call(banSubject, { ...user('eve'), ttl: { seconds: 3_650n * 86_400n } });
    expect(long.ban!.expireTime).toBeDefined();
  });

  test('NOT_FOUND and FAILED_PRECONDITION: the room', async () => {
    const stage = await newRoom();
    const nowhere = { room: 'nowhere', ...user('bob') };
    expect(await failureOf(stage.control.call(banSubject, nowhere))).toMatchObject(NOT_FOUND);
    await stage.control.call(closeRoom, { room: 'lobby' });
    const ended = { room: 'lobby', ...user('bob') };
    expect(await failureOf(stage.control.call(banSubject, ended))).toMatchObject(ENDED);
  });

  test('FAILED_PRECONDITION: more than 1,000 ranges of addresses', async () => {
    const stage = await newRoom();
    await app.service.deps.db.query(
      `insert into bans (tenant_id, id, kind, value, network, rank)
       select $1, 'ban_' || n, 'cidr', network::text, network, 100
         from generate_series(0, 998) n, lateral (select set_masklen(inet '10.0.0.0' + n, 32)::cidr as network) x`,
      [parseTenantId(stage.tenant.id)],
    );
    await stage.control.call(banSubject, { room: 'lobby', ...cidr('192.0.2.0/24') });
    for (const room of ['lobby', '']) {
      const another = { room, ...cidr('198.51.100.0/24') };
      expect(await failureOf(stage.control.call(banSubject, another))).toMatchObject({
        code: 'FAILED_PRECONDITION',
        reason: 'TOO_MANY_BANS',
      });
    }
    await stage.control.call(banSubject, cidr('10.0.0.0/32'));
    await stage.control.call(banSubject, user('bob'));
    await stage.control.call(unbanSubject, cidr('10.0.0.1/32'));
    await stage.control.call(banSubject, cidr('198.51.100.0/24'));
  });
});

describe('bans apply to POST /join', () => {
  test('a user, a device and a range of addresses, until the ban is lifted', async () => {
    const stage = await newRoom();
    const { credential } = await createCredential(app, stage.tenant);
    const key = deviceKey();
    const from = (address: string, fields: object = {}) =>
      join(app, credential, { room: 'lobby', key, ...fields }, { headers: { 'x-forwarded-for': address } });
    expect((await from('192.0.2.7')).status).toBe(200);

    for (const subject of [user('ann'), device(await thumbprint(key)), cidr('192.0.2.0/24')]) {
      for (const room of ['lobby', '']) {
        await stage.control.call(banSubject, { room, ...subject });
        expect(await from('192.0.2.7')).toMatchObject({ status: 403, text: 'permission denied: banned' });
        await stage.control.call(unbanSubject, { room, ...subject });
        expect((await from('192.0.2.7')).status).toBe(200);
      }
    }
    await stage.control.call(banSubject, { room: 'lobby', ...cidr('192.0.2.0/24') });
    expect((await from('::ffff:192.0.2.7')).status).toBe(403);
    expect((await from('::ffff:c000:207')).status).toBe(403);
    expect((await from('192.0.3.7')).status).toBe(200);
    expect((await from('2001:db8::7')).status).toBe(200);
  });

  test('until it expires', async () => {
    const stage = await newRoom();
    const { credential } = await createCredential(app, stage.tenant);
    await stage.control.call(banSubject, { ...user('ann'), ttl: { seconds: 60n } });
    expect((await join(app, credential, { room: 'lobby' })).status).toBe(403);
    await passBans(app, stage.tenant);
    expect((await join(app, credential, { room: 'lobby' })).status).toBe(200);
  });
});

describe('UnbanSubject', () => {
  test('lifts the ban of exactly that scope', async () => {
    const stage = await newRoom();
    await stage.control.call(banSubject, { room: 'lobby', ...user('bob') });
    const { ban } = await stage.control.call(banSubject, user('bob'));
    const lifted = await stage.control.call(unbanSubject, user('bob'));
    expect(lifted.ban).toEqual(ban);
    expect(lifted.event).toMatchObject({
      action: ModerationEvent_Action.UNBAN,
      room: '',
      subject: { case: 'username', value: 'bob' },
    });
    expect(await failureOf(stage.control.call(unbanSubject, user('bob')))).toMatchObject(NOT_FOUND);
    expect(await failureOf(mint(stage, 'bob'))).toMatchObject(BANNED);
    await stage.control.call(unbanSubject, { room: 'lobby', ...user('bob') });
    await mint(stage, 'bob');
  });

  test('an actor lifts bans of the same or a lower rank', async () => {
    const stage = await newRoom();
    await mint(stage, 'ann', HOST);
    await mint(stage, 'mod', MODERATOR);
    await mint(stage, 'peer', MODERATOR);
    const lift = (by: string) =>
      stage.control.call(unbanSubject, { room: 'lobby', ...user('bob'), actor: actor(by) });
    const ban = (by?: string) =>
      stage.control.call(banSubject, { room: 'lobby', ...user('bob'), ...(by && { actor: actor(by) }) });
    await ban('ann');
    expect(await failureOf(lift('mod'))).toMatchObject(NO_STANDING);
    await lift('ann');
    await ban('mod');
    await lift('peer');
    await ban('mod');
    await lift('ann');
    await ban();
    expect(await failureOf(lift('ann'))).toMatchObject(NO_STANDING);
  });

  test('NOT_FOUND: room, ban, and those of another tenant', async () => {
    const stage = await newRoom();
    const nowhere = { room: 'nowhere', ...user('bob') };
    expect(await failureOf(stage.control.call(unbanSubject, nowhere))).toMatchObject(NOT_FOUND);
    const none = { room: 'lobby', ...user('bob'), actor: actor('nobody') };
    expect(await failureOf(stage.control.call(unbanSubject, none))).toMatchObject(NOT_FOUND);
    await stage.control.call(banSubject, user('bob'));
    const other = await newRoom();
    expect(await failureOf(other.control.call(unbanSubject, user('bob')))).toMatchObject(NOT_FOUND);
    await mint(other, 'bob');
  });

  test('INVALID_ARGUMENT: subject', async () => {
    const { control } = await newRoom();
    expect(await failureOf(control.call(unbanSubject, {}))).toMatchObject({
      ...INVALID,
      fields: ['subject'],
    });
    const range = cidr('192.0.2.1/24');
    expect(await failureOf(control.call(unbanSubject, range))).toMatchObject({
      ...INVALID,
      fields: ['cidr'],
    });
  });
});

describe('ListBans', () => {
  test('the newest first, in pages, by room and by subject', async () => {
    const stage = await newRoom();
    const { control } = stage;
    const bans = [];
    for (const [room, subject] of [
      ['lobby', user('bob')],
      ['', user('bob')],
      ['lobby', cidr('2001:db8::/32')],
      ['', device(deviceOf('eve'))],
      ['lobby', user('eve')],
    ] as const) {
      bans.unshift((await control.call(banSubject, { room, ...subject })).ban!);
    }
    const other = await newRoom();
    await other.control.call(banSubject, user('bob'));

    expect((await control.call(listBans, {})).bans).toEqual(bans);
    expect((await control.call(listBans, { room: 'lobby' })).bans).toEqual(bans.filter((ban) => ban.room));
    expect((await control.call(listBans, user('Bob'))).bans).toEqual([bans[3], bans[4]]);
    expect((await control.call(listBans, cidr('2001:DB8:0::/32'))).bans).toEqual([bans[2]]);
    expect((await control.call(listBans, cidr('2001:db8::/48'))).bans).toEqual([]);
    expect((await control.call(listBans, { room: 'lobby', ...device(deviceOf('eve')) })).bans).toEqual([]);

    const pages = [];
    let pageToken = '';
    do {
      const page = await control.call(listBans, { pageSize: 2, pageToken });
      pages.push(page.bans);
      // Bans that are lifted meanwhile do not affect later pages.
      if (pageToken === '') await control.call(unbanSubject, { room: '', ...device(deviceOf('eve')) });
      pageToken = page.nextPageToken;
    } while (pageToken);
    expect(pages).toEqual([bans.slice(0, 2), bans.slice(2, 4), bans.slice(4)]);
    const whole = await control.call(listBans, { pageSize: 4 });
    expect(whole.nextPageToken).toBe('');
  });

  test.each([
    ['page_size', { pageSize: -1 }],
    ['page_size', { pageSize: 501 }],
    ['page_token', { pageToken: 'x' }],
    ['page_token', { pageToken: Buffer.from('["x"]').toString('base64url') }],
    ['page_token', { pageToken: Buffer.from('[]').toString('base64url') }],
    ['room', { room: '*' }],
    ['username', user('b b')],
    ['cidr', cidr('x')],
  ])('INVALID_ARGUMENT: %s %#', async (field, request) => {
    const control = controlOf(await app.signUp());
    expect(await failureOf(control.call(listBans, request))).toMatchObject({ ...INVALID, fields: [field] });
  });

  test('NOT_FOUND: the room', async () => {
    const control = controlOf(await app.signUp());
    expect(await failureOf(control.call(listBans, { room: 'nowhere' }))).toMatchObject(NOT_FOUND);
  });
});

describe('CloseRoom', () => {
  test('ends the room, and all participants leave', async () => {
    const stage = await newRoom();
    await mint(stage, 'bob');
    await mint(stage, 'ann', HOST);
    const before = await lastSeq(app, stage.tenant);
    const { room, event } = await stage.control.call(closeRoom, {
      room: 'lobby',
      reason: 'over',
      actor: actor('ann'),
    });
    expect(room).toMatchObject({ state: Room_State.ENDED, endReason: 'closed', participantCount: 0 });
    expect(event).toMatchObject({
      action: ModerationEvent_Action.CLOSE_ROOM,
      room: 'lobby',
      subject: { case: undefined },
      reason: 'over',
      actor: 'ann',
    });
    expect((await eventsSince(app, stage.tenant, before)).map((each) => each.type)).toEqual([
      'participant_left',
      'participant_left',
      'room_ended',
      'moderation',
    ]);
    expect(await failureOf(mint(stage, 'bob'))).toMatchObject(ENDED);
    expect(await failureOf(stage.control.call(closeRoom, { room: 'lobby' }))).toMatchObject(ENDED);
  });

  test('with its idempotency key again, the first answer', async () => {
    const { control } = await newRoom();
    const close = { room: 'lobby', idempotencyKey: 'close' };
    expect(await control.call(closeRoom, close)).toEqual(await control.call(closeRoom, close));
  });

  test('INVALID_ARGUMENT and NOT_FOUND', async () => {
    const { control } = await newRoom();
    expect(await failureOf(control.call(closeRoom, {}))).toMatchObject({ ...INVALID, fields: ['room'] });
    expect(await failureOf(control.call(closeRoom, { room: 'nowhere' }))).toMatchObject(NOT_FOUND);
  });
});

describe('ListModerationEvents', () => {
  test('the newest first, in pages, of all rooms that had the name, and by user', async () => {
    const stage = await newRoom();
    const { control } = stage;
    await mint(stage, 'bob');
    const events = [];
    events.unshift((await control.call(kickParticipant, { room: 'lobby', username: 'bob' })).event!);
    events.unshift((await control.call(banSubject, user('bob'))).event!);
    events.unshift((await control.call(closeRoom, { room: 'lobby' })).event!);
    await control.call(RoomService.method.createRoom, { room: 'lobby' });
    events.unshift((await control.call(banSubject, { room: 'lobby', ...user('eve') })).event!);
    events.unshift((await control.call(banSubject, { room: 'lobby', ...cidr('192.0.2.0/24') })).event!);

    const list = async (request: object) => (await control.call(listModerationEvents, request)).events;
    expect(await list({})).toEqual(events);
    expect(await list({ room: 'lobby' })).toEqual(events.filter((event) => event.room));
    expect(new Set(events.map((event) => event.roomUid)).size).toBe(3);
    expect(await list({ username: 'Bob' })).toEqual([events[3], events[4]]);
    expect(await list({ room: 'lobby', username: 'bob' })).toEqual([events[4]]);
    expect(await failureOf(list({ room: 'nowhere' }))).toMatchObject(NOT_FOUND);

    const first = await control.call(listModerationEvents, { pageSize: 3 });
    const pageToken = first.nextPageToken;
    const second = await control.call(listModerationEvents, { pageSize: 3, pageToken });
    expect([first.events, second.events]).toEqual([events.slice(0, 3), events.slice(3)]);
    expect(second.nextPageToken).toBe('');
    const other = await newRoom();
    expect((await other.control.call(listModerationEvents, {})).events).toEqual([]);
  });

  test.each([
    ['page_size', { pageSize: 501 }],
    ['page_token', { pageToken: Buffer.from('["9999999999999999999"]').toString('base64url') }],
    ['page_token', { pageToken: Buffer.from('["1","2"]').toString('base64url') }],
    ['room', { room: 'a b' }],
    ['username', { username: 'b b' }],
  ])('INVALID_ARGUMENT: %s %#', async (field, request) => {
    const control = controlOf(await app.signUp());
    const failure = await failureOf(control.call(listModerationEvents, request));
    expect(failure).toMatchObject({ ...INVALID, fields: [field] });
  });

  test('records do not change later', async () => {
    const stage = await newRoom();
    await stage.control.call(banSubject, user('bob'));
    for (const statement of [
      // Erasing changes reasons, and the role of the service may do it.
      `update moderation_events set ${isDistributed() ? 'action' : 'reason'} = 'another'`,
      'delete from moderation_events',
      'truncate moderation_events',
    ]) {
      await expectAppendOnly(app.database, 'moderation_events', statement);
    }
  });
});
