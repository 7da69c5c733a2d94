import { RoomPolicySchema } from '@boxoffice/contract/room';
import { RoomService } from '@boxoffice/contract/room_service';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { CAPABILITIES, ROLE_CAPABILITIES } from '../../../src/access/rights/capabilities.ts';
import type { KeyCeiling } from '../../../src/access/rights/key-ceiling.ts';
import { createCredential, endRoom, join, spendAll, verify } from '../../support/devices.ts';
import { failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';
import { setStatus } from '../rest/support.ts';
import { lapse, mint, newThumbprint, toldOf } from './mint.ts';

const app = useService();
const controlOf = useControl(app);

type Policy = Omit<MessageInitShape<typeof RoomPolicySchema>, '$typeName'>;
const createRoom = (control: TestControl, policy: Policy = {}, room = 'lobby') =>
  control.call(RoomService.method.createRoom, { room, policy: create(RoomPolicySchema, policy) });

/** A tenant with credit and a live room `lobby`. */
async function newRoom(policy: Policy = {}) {
  const tenant = await app.paidTenant();
  const control = controlOf(tenant);
  const { room } = await createRoom(control, policy);
  return { tenant, control, room: room! };
}

const claimsOf = async (control: TestControl, fields: Parameters<typeof mint>[1] = {}) =>
  verify(app, (await mint(control, fields)).token);

const refusal = async (control: TestControl, fields: Parameters<typeof mint>[1] = {}) => {
  const { code, reason, fields: wrong, metadata } = await failureOf(mint(control, fields));
  const excess = metadata.excess === undefined ? {} : { excess: metadata.excess };
  return { is: `${code} ${reason}`, ...(wrong.length > 0 && { field: wrong.join() }), ...excess };
};

describe('MintClientToken', () => {
  describe('OK', () => {
    test('a token contains what was granted', async () => {
      const { tenant, control, room } = await newRoom();
      const deviceThumbprint = newThumbprint();
      const minted = await mint(control, {
        username: 'Ann',
        deviceThumbprint,
        role: 'host',
        capabilities: ['publish.audio', 'chat.send', 'publish.audio'],
        rank: 42,
        lifetime: { seconds: 900n },
      });
      expect(minted).toMatchObject({
        room: 'lobby',
        username: 'ann',
        deviceThumbprint,
        roomUid: room.uid,
        withheldCapabilities: [],
      });
      const claims = await verify(app, minted.token);
      expect(claims).toMatchObject({
        sub: 'ann',
        tid: tenant.id,
        cnf: { jkt: deviceThumbprint },
        room: 'lobby',
        rid: room.uid,
        role: 'host',
        cap: ['chat.send', 'publish.audio'],
        rank: 42,
        ep: 0,
        key: tenant.keyId,
      });
      expect(claims.exp! - claims.iat!).toBe(900);
      expect(timestampDate(minted.expireTime!).getTime()).toBe(claims.exp! * 1000);
      expect(minted.keyId).toBe(decodeProtectedHeader(minted.token).kid);
    });

    test('it has the same claims and header as a token from POST /join', async () => {
      const { tenant, control } = await newRoom();
      const { credential } = await createCredential(app, tenant);
      const joined: string = (await join(app, credential, { room: 'lobby', username: 'bob' })).json.token;
      const { token } = await mint(control);
      expect(decodeProtectedHeader(token)).toStrictEqual(decodeProtectedHeader(joined));
      expect(Object.keys(decodeJwt(token))).toStrictEqual(Object.keys(decodeJwt(joined)));
    });

    test.each([
      ['host', ROLE_CAPABILITIES.host, 80],
      ['audience', ROLE_CAPABILITIES.audience, 20],
      ['', ROLE_CAPABILITIES.audience, 20],
      ['broadcast_audience', ROLE_CAPABILITIES.broadcast_audience, 10],
    ])('role "%s" grants what it does by default, for ten minutes', async (role, capabilities, rank) => {
      const { control } = await newRoom();
      const claims = await claimsOf(control, { role });
      expect(claims).toMatchObject({ role: role || 'audience', cap: [...capabilities].sort(), rank });
      expect(claims.exp! - claims.iat!).toBe(600);
    });

    test("the room's policy decides what a role grants, and the request overrides both", async () => {
      const { control } = await newRoom({
        hostCapabilities: ['room.end', 'chat.send'],
        audienceCapabilities: ['subscribe.video'],
      });
      const cap = async (fields: object) => (await claimsOf(control, fields)).cap;
      expect(await cap({ role: 'host' })).toStrictEqual(['chat.send', 'room.end']);
      expect(await cap({ role: 'audience' })).toStrictEqual(['subscribe.video']);
      expect(await cap({ role: 'broadcast_audience' })).toStrictEqual(['subscribe.video']);
      expect(await cap({ role: 'audience', capabilities: ['room.hidden'] })).toStrictEqual(['room.hidden']);
      expect(await cap({ role: 'host', capabilities: [...CAPABILITIES] })).toStrictEqual(CAPABILITIES);
    });

    test.each([1n, 900n])('%s s is the lifetime', async (seconds) => {
      const { control } = await newRoom();
      // Not verified: the shortest may have expired by now.
      const claims = decodeJwt((await mint(control, { lifetime: { seconds } })).token);
      expect(claims.exp! - claims.iat!).toBe(Number(seconds));
    });

    test.each([0, 80])('rank %i is granted', async (rank) => {
      const { control } = await newRoom();
      expect((await claimsOf(control, { rank })).rank).toBe(rank);
    });

    test('two devices of a user are one participant', async () => {
      const { tenant, control, room } = await newRoom();
      const tokens = [await mint(control), await mint(control)];
      expect(new Set(tokens.map((minted) => decodeJwt(minted.token).jti)).size).toBe(2);
      expect(await toldOf(app, tenant)).toStrictEqual(['entered ann']);
      const { rows } = await app.service.deps.db.query('select device from admissions where room_uid = $1', [
        room.uid,
      ]);
      expect(rows.map((row) => row.device).sort()).toStrictEqual(
        tokens.map((minted) => minted.deviceThumbprint).sort(),
      );
    });

    test('a renewal emits no event; another role, rank or capability does', async () => {
      const { tenant, control } = await newRoom();
      const deviceThumbprint = newThumbprint();
      for (const fields of [{}, {}, { role: 'host' }, { role: 'host' }, { role: 'host', rank: 30 }]) {
        await mint(control, { deviceThumbprint, ...fields });
      }
      await mint(control, { deviceThumbprint, role: 'host', rank: 30, capabilities: ['chat.send'] });
      expect(await toldOf(app, tenant)).toStrictEqual([
        'entered ann',
        'updated ann',
        'updated ann',
        'updated ann',
      ]);
    });

    test('participants of a locked or full room renew; one whose token expired is a newcomer', async () => {
      const { tenant, control } = await newRoom({ maxParticipants: 1 });
      await mint(control);
      await app.service.deps.db.query(
        `update rooms set policy = policy || '{"locked": true}' where name = 'lobby'`,
      );
      await mint(control);
      expect(await refusal(control, { username: 'bob' })).toStrictEqual({
        is: 'FAILED_PRECONDITION ROOM_LOCKED',
      });
      await lapse(app, tenant);
      expect(await refusal(control)).toStrictEqual({ is: 'FAILED_PRECONDITION ROOM_LOCKED' });
    });

    test('a user with verified age is admitted where that is required', async () => {
      const { control } = await newRoom({ ageVerificationRequired: true });
      await mint(control, { ageVerified: true });
    });
  });

  describe('INVALID_ARGUMENT', () => {
    let control: TestControl;
    beforeAll(async () => {
      control = (await newRoom()).control;
    });

    test.each<[string, object, string]>([
      ['no room', { room: '' }, 'room'],
      ['a malformed room', { room: '-lobby' }, 'room'],
      ['no username', { username: '' }, 'username'],
      ['a malformed username', { username: 'a b' }, 'username'],
      ['a username of 65 characters', { username: 'a'.repeat(65) }, 'username'],
      ['no device', { deviceThumbprint: '' }, 'device_thumbprint'],
      ['a malformed device', { deviceThumbprint: 'x'.repeat(42) }, 'device_thumbprint'],
      ['a role that is none', { role: 'moderator' }, 'role'],
      ['a role in another case', { role: 'HOST' }, 'role'],
      ['a capability that is none', { capabilities: ['chat.send', 'chat.read'] }, 'capabilities[1]'],
      ['rank -1', { rank: -1 }, 'rank'],
      ['rank 100', { rank: 100 }, 'rank'],
      ['0 s', { lifetime: { seconds: 0n } }, 'lifetime'],
      ['-1 s', { lifetime: { seconds: -1n } }, 'lifetime'],
      ['900.5 s', { lifetime: { seconds: 900n, nanos: 500_000_000 } }, 'lifetime'],
      ['1.5 s', { lifetime: { seconds: 1n, nanos: 500_000_000 } }, 'lifetime'],
      ['a nanosecond more than 1 s', { lifetime: { seconds: 1n, nanos: 1 } }, 'lifetime'],
      ['901 s', { lifetime: { seconds: 901n } }, 'lifetime'],
      ['899 s and 10^9 ns', { lifetime: { seconds: 899n, nanos: 1_000_000_000 } }, 'lifetime'],
      ['seconds and nanoseconds of two signs', { lifetime: { seconds: 2n, nanos: -1_000_000 } }, 'lifetime'],
      ['more seconds than a number holds', { lifetime: { seconds: 2n ** 63n - 1n } }, 'lifetime'],
      ['an address that is none', { clientAddress: '300.1.1.1' }, 'client_address'],
    ])('%s', async (_, fields, field) => {
      expect(await refusal(control, fields)).toStrictEqual({ is: 'INVALID_ARGUMENT INVALID_REQUEST', field });
    });

    test('comes before all other failures', async () => {
      expect(await refusal(control, { room: 'absent', rank: 100 })).toMatchObject({ field: 'rank' });
    });
  });

  describe('NOT_FOUND', () => {
    test("another tenant's room does not exist for the caller", async () => {
      await newRoom();
      const control = controlOf(await app.paidTenant());
      const [foreign, absent] = [
        await failureOf(mint(control)),
        await failureOf(mint(control, { room: 'a' })),
      ];
      expect([foreign.code, foreign.reason, foreign.message]).toStrictEqual([
        'NOT_FOUND',
        'NOT_FOUND',
        'room not found',
      ]);
      expect([absent.code, absent.reason, absent.message]).toStrictEqual([
        'NOT_FOUND',
        'NOT_FOUND',
        'room not found',
      ]);
    });
  });

  describe('PERMISSION_DENIED', () => {
    const lower = (tenant: TestTenant, change: Partial<KeyCeiling>) =>
      changeCeiling(app.service.deps.db, OPERATOR, tenant.keyId, change);
    const exceeded = (excess: string) => ({ is: 'PERMISSION_DENIED CEILING_EXCEEDED', excess });

    test('beyond the default rank of keys', async () => {
      const { control } = await newRoom();
      expect(await refusal(control, { rank: 81 })).toStrictEqual(exceeded('rank 81'));
      expect(await refusal(control, { rank: 99 })).toStrictEqual(exceeded('rank 99'));
    });

    test('beyond the ceiling of the key, naming everything that exceeds it', async () => {
      const { tenant, control } = await newRoom();
      await lower(tenant, {
        capabilities: ['chat.send', 'subscribe.audio'],
        roles: ['audience'],
        rank: 20,
        rooms: ['class-*'],
        lifetimeSeconds: 60,
      });
      const within = { capabilities: ['chat.send'], lifetime: { seconds: 60n } };
      expect(await refusal(control, within)).toStrictEqual(exceeded('room lobby'));
      const fields = { role: 'host', capabilities: ['room.end', 'chat.send'], lifetime: { seconds: 61n } };
      expect(await refusal(control, fields)).toStrictEqual(
        exceeded('room.end, role host, room lobby, rank 80, lifetime 61 s'),
      );
      await lower(tenant, { rooms: ['class-*', 'lob*'] });
      await mint(control, within);
      // The defaults of a role are not trimmed either.
      expect((await refusal(control)).excess).toContain('roster.view');
      const claims = await claimsOf(control, { capabilities: ['chat.send'] });
      expect(claims.exp! - claims.iat!).toBe(60);
    });

    test('a tenant that is not active', async () => {
      const { tenant, control } = await newRoom();
      await setStatus(app, tenant, 'suspended');
      expect(await refusal(control)).toStrictEqual({ is: 'PERMISSION_DENIED TENANT_NOT_ACTIVE' });
      expect(await refusal(control, { rank: 81 })).toStrictEqual(exceeded('rank 81'));
      expect(await refusal(control, { room: 'absent' })).toStrictEqual({ is: 'NOT_FOUND NOT_FOUND' });
    });
  });

  describe('FAILED_PRECONDITION', () => {
    const precondition = (reason: string) => ({ is: `FAILED_PRECONDITION ${reason}` });

    test('a room that has ended, until a new one has its name', async () => {
      const { tenant, control, room } = await newRoom();
      await endRoom(app, tenant, 'lobby');
      const failure = await failureOf(mint(control));
      expect(failure).toMatchObject({ code: 'FAILED_PRECONDITION', preconditions: ['ROOM_ENDED'] });
      const { room: next } = await createRoom(control);
      expect((await claimsOf(control)).rid).toBe(next!.uid);
      expect(next!.uid).not.toBe(room.uid);
    });

    test('an unverified age', async () => {
      const { control } = await newRoom({ ageVerificationRequired: true });
      expect(await refusal(control)).toStrictEqual(precondition('AGE_VERIFICATION_REQUIRED'));
    });

    test('a room of five admits five of twenty concurrent newcomers', async () => {
      const { control } = await newRoom({ maxParticipants: 5 });
      const users = Array.from({ length: 20 }, (_, index) => `user${index}`);
      const outcomes = await Promise.allSettled(users.map((username) => mint(control, { username })));
      const inside = users.filter((_, index) => outcomes[index]!.status === 'fulfilled');
      expect(inside).toHaveLength(5);
      expect(await refusal(control, { username: 'late' })).toStrictEqual(precondition('ROOM_FULL'));
      await Promise.all(inside.map((username) => mint(control, { username })));
    });

    test('a lowered limit applies to newcomers: participants renew, even with other rights', async () => {
      const { control } = await newRoom();
      await mint(control, { username: 'ann' });
      await mint(control, { username: 'bob' });
      await control.call(RoomService.method.updateRoomPolicy, {
        room: 'lobby',
        policy: create(RoomPolicySchema, { maxParticipants: 1 }),
        updateMask: { paths: ['max_participants'] },
      });
      await mint(control, { username: 'ann', role: 'host' });
      expect(await refusal(control, { username: 'cyn' })).toStrictEqual(precondition('ROOM_FULL'));
    });

    test('no credit: spent, or never bought', async () => {
      const { tenant, control } = await newRoom();
      await spendAll(app, tenant);
      expect(await refusal(control)).toStrictEqual(precondition('NO_CREDIT'));
      const pending = controlOf(await app.signUp());
      await createRoom(pending);
      expect(await refusal(pending)).toStrictEqual(precondition('NO_CREDIT'));
    });

    test('credit is checked last', async () => {
      const { tenant, control } = await newRoom();
      await createRoom(control, { maxParticipants: 1 }, 'full');
      await mint(control, { room: 'full', username: 'bob' });
      await spendAll(app, tenant);
      await createRoom(control, { locked: true }, 'locked');
      await createRoom(control, { ageVerificationRequired: true }, 'adults');
      await createRoom(control, {}, 'over');
      await endRoom(app, tenant, 'over');
      expect(await refusal(control, { rank: 81 })).toMatchObject({
        is: 'PERMISSION_DENIED CEILING_EXCEEDED',
      });
      expect(await refusal(control, { room: 'absent' })).toStrictEqual({ is: 'NOT_FOUND NOT_FOUND' });
      expect(await refusal(control, { room: 'full' })).toStrictEqual(precondition('ROOM_FULL'));
      expect(await refusal(control, { room: 'locked' })).toStrictEqual(precondition('ROOM_LOCKED'));
      expect(await refusal(control, { room: 'adults' })).toStrictEqual(
        precondition('AGE_VERIFICATION_REQUIRED'),
      );
      expect(await refusal(control, { room: 'over' })).toStrictEqual(precondition('ROOM_ENDED'));
      expect(await refusal(control, { room: 'full', username: 'bob' })).toStrictEqual(
        precondition('NO_CREDIT'),
      );
    });
  });
});

describe('MintClientToken with lookalikes refused', () => {
  const strict = useService({ confusableUsernames: 'refuse' });
  const strictControlOf = useControl(strict);
  let control: TestControl;
  let tenant: TestTenant;
  beforeEach(async () => {
    tenant = await strict.paidTenant();
    control = strictControlOf(tenant);
    await createRoom(control);
    await mint(control, { username: 'paul' });
  });

  test('a name that looks like that of a participant who is present', async () => {
    // Cyrillic er in place of the first letter.
    const failure = await failureOf(mint(control, { username: 'рaul' }));
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'USERNAME_CONFUSABLE' });
    await mint(control, { username: 'paul' });
    await lapse(strict, tenant);
    await mint(control, { username: 'рaul' });
  });

  test('comes before the lack of credit', async () => {
    await spendAll(strict, tenant);
    expect(await refusal(control, { username: 'рaul' })).toMatchObject({
      is: 'INVALID_ARGUMENT USERNAME_CONFUSABLE',
    });
    expect(await refusal(control)).toStrictEqual({ is: 'FAILED_PRECONDITION NO_CREDIT' });
  });
});
