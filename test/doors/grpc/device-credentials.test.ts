import { DeviceCredentialSchema } from '@boxoffice/contract/device_credential';
import { type CreateDeviceCredentialRequestSchema, TokenService } from '@boxoffice/contract/token_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { CAPABILITIES } from '../../../src/access/rights/capabilities.ts';
import type { KeyCeiling } from '../../../src/access/rights/key-ceiling.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { type Service, startService } from '../../../src/run/service.ts';
import { expectJoined, join } from '../../support/devices.ts';
import { control, failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { OPERATOR } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);
const { method } = TokenService;
const CREDENTIAL = /^dev_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;
const ABSENT = '0123456789abcdef';

let tenant: TestTenant;
let own: TestControl;
beforeAll(async () => {
  tenant = await app.paidTenant();
  own = controlOf(tenant);
});

type Fields = Omit<MessageInitShape<typeof CreateDeviceCredentialRequestSchema>, '$typeName' | 'tenant'>;
const makeCredential = (fields: Fields = {}, at = own) =>
  at.call(method.createDeviceCredential, { name: 'a device', publish: [TrackKind.AUDIO], ...fields });
const rotate = (id: string, fields: object = {}, at = own) =>
  at.call(method.rotateDeviceCredential, { id, ...fields });
const revoke = (id: string, fields: object = {}, at = own) =>
  at.call(method.revokeDeviceCredential, { id, ...fields });
const joinStatus = async (credential: string) => (await join(app, credential, { room: 'lobby' })).status;

const refusal = async (call: Promise<unknown>) => {
  const { code, reason, fields } = await failureOf(call);
  return { is: `${code} ${reason}`, ...(fields.length > 0 && { field: fields.join() }) };
};

/** Make a credential look as it does after its expiry. */
const setTime = (id: string, column: 'expires_at' | 'retires_at') =>
  changeReferenceTable(
    app.service.deps.db,
    `update device_credentials set ${column} = now() - interval '1 second' where id = $1`,
    [id],
  );

describe('CreateDeviceCredential', () => {
  test('makes a credential that a device joins with', async () => {
    const expireTime = timestampFromDate(new Date(Date.now() + 3_600_000));
    const before = Date.now();
    const { credential, deviceCredential } = await makeCredential({
      name: 'Kiosk 1',
      publish: [TrackKind.DATA, TrackKind.AUDIO, TrackKind.DATA],
      rooms: ['lobby', 'class-*'],
      defaultRoom: 'class-1',
      expireTime,
    });
    expect(deviceCredential).toStrictEqual(
      create(DeviceCredentialSchema, {
        id: CREDENTIAL.exec(credential)![1]!,
        name: 'Kiosk 1',
        publish: [TrackKind.AUDIO, TrackKind.DATA],
        rooms: ['lobby', 'class-*'],
        defaultRoom: 'class-1',
        expireTime,
        createTime: deviceCredential!.createTime!,
      }),
    );
    expect(Math.abs(timestampDate(deviceCredential!.createTime!).getTime() - before)).toBeLessThan(60_000);
    expect(expectJoined(await join(app, credential)).room).toBe('class-1');
    expect((await join(app, credential, { room: 'other' })).status).toBe(403);
  });

  test('omitted fields are unrestricted, and no device joins without tracks', async () => {
    const { credential, deviceCredential } = await makeCredential({ publish: [] });
    expect(deviceCredential).toMatchObject({ publish: [], rooms: [], defaultRoom: '' });
    expect(deviceCredential!.expireTime).toBeUndefined();
    expect(await joinStatus(credential)).toBe(403);
  });

  test('the same key again returns the same plaintext, and makes nothing', async () => {
    const poor = controlOf(await app.signUp());
    const first = await makeCredential({ idempotencyKey: 'once' }, poor);
    expect(await makeCredential({ idempotencyKey: 'once' }, poor)).toStrictEqual(first);
    const { deviceCredentials } = await poor.call(method.listDeviceCredentials, {});
    expect(deviceCredentials).toStrictEqual([first.deviceCredential]);
    const other = makeCredential({ idempotencyKey: 'once', name: 'another' }, poor);
    expect(await refusal(other)).toMatchObject({ is: 'INVALID_ARGUMENT IDEMPOTENCY_KEY_REUSED' });
  });

  test.each<[string, Fields, string]>([
    ['no name', { name: '' }, 'name'],
    ['101 characters', { name: 'é'.repeat(101) }, 'name'],
    ['NUL', { name: 'a\0b' }, 'name'],
    ['a track that is none', { publish: [TrackKind.AUDIO, TrackKind.UNSPECIFIED] }, 'publish[1]'],
    ['an unknown track', { publish: [99 as TrackKind] }, 'publish[0]'],
    ['a malformed pattern', { rooms: ['lobby', ''] }, 'rooms[1]'],
    ['21 patterns', { rooms: Array.from({ length: 21 }, (_, at) => `room-${at}`) }, 'rooms'],
    ['a pattern as the default room', { defaultRoom: 'class-*' }, 'default_room'],
    ['a default room outside rooms', { rooms: ['class-*'], defaultRoom: 'lobby' }, 'default_room'],
    ['a time that is over', { expireTime: timestampFromDate(new Date(Date.now() - 60_000)) }, 'expire_time'],
    ['a time that is none', { expireTime: { seconds: 1n, nanos: -1 } }, 'expire_time'],
    ['the year 10000', { expireTime: { seconds: 253_402_300_800n } }, 'expire_time'],
    ['seconds beyond all dates', { expireTime: { seconds: 2n ** 62n } }, 'expire_time'],
    ['a malformed idempotency key', { idempotencyKey: 'é' }, 'idempotency_key'],
  ])('INVALID_ARGUMENT: %s', async (_, fields, field) => {
    expect(await refusal(makeCredential(fields))).toStrictEqual({
      is: 'INVALID_ARGUMENT INVALID_REQUEST',
      field,
    });
  });

  test('PERMISSION_DENIED beyond the ceiling of the key, naming what joins would grant', async () => {
    const low = await app.paidTenant();
    const at = controlOf(low);
    const lower = (change: Partial<KeyCeiling>) =>
      changeCeiling(app.service.deps.db, OPERATOR, low.keyId, change);
    const excess = async (fields: Fields) => {
      const { code, reason, metadata } = await failureOf(makeCredential(fields, at));
      expect(`${code} ${reason}`).toBe('PERMISSION_DENIED CEILING_EXCEEDED');
      return metadata.excess;
    };
    await lower({ rooms: ['class-*'] });
    expect(await excess({})).toBe('room *');
    expect(await excess({ rooms: ['class-1', 'c*'], defaultRoom: 'lobby' })).toBe('room c*');
    const { credential } = await makeCredential({ rooms: ['class-*'], defaultRoom: 'class-1' }, at);
    expect(expectJoined(await join(app, credential)).room).toBe('class-1');

    const capabilities = CAPABILITIES.filter((each) => each !== 'publish.video');
    await lower({ capabilities, roles: ['host'], rank: 19, lifetimeSeconds: 599 });
    expect(await excess({ rooms: ['class-*'], publish: [TrackKind.AUDIO, TrackKind.VIDEO] })).toBe(
      'publish.video, role audience, rank 20, lifetime 600 s',
    );
    expect((await at.call(method.listDeviceCredentials, {})).deviceCredentials).toHaveLength(1);
  });

  test('100 characters and 20 patterns are taken', async () => {
    const rooms = Array.from({ length: 20 }, (_, at) => `room-${at}`);
    const { deviceCredential } = await makeCredential({ name: '𝒳'.repeat(100), rooms });
    expect(deviceCredential!.rooms).toStrictEqual(rooms);
  });
});

describe('ListDeviceCredentials', () => {
  const list = (at: TestControl, fields: object = {}) => at.call(method.listDeviceCredentials, fields);

  test('the oldest first, page by page, including revoked ones, but not those of another tenant', async () => {
    const at = controlOf(await app.signUp());
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      ids.push((await makeCredential({ name: `device ${count}` }, at)).deviceCredential!.id);
    }
    await revoke(ids[1]!, {}, at);
    const seen: string[] = [];
    const sizes: number[] = [];
    let pageToken = '';
    do {
      const page = await list(at, { pageSize: 2, pageToken });
      sizes.push(page.deviceCredentials.length);
      seen.push(...page.deviceCredentials.map((each) => each.id));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    expect(seen).toStrictEqual(ids);
    expect(sizes).toStrictEqual([2, 2, 1]);
    const whole = await list(at, { pageSize: 5 });
    expect(whole.nextPageToken).toBe('');
    expect(whole.deviceCredentials.map((each) => each.revokeTime !== undefined)).toStrictEqual([
      false,
      true,
      false,
      false,
      false,
    ]);
  });

  test('50 by default', async () => {
    const at = controlOf(await app.signUp());
    await Promise.all(Array.from({ length: 51 }, () => makeCredential({}, at)));
    const first = await list(at);
    expect(first.deviceCredentials).toHaveLength(50);
    const rest = await list(at, { pageToken: first.nextPageToken });
    expect(rest).toMatchObject({ deviceCredentials: [{ name: 'a device' }], nextPageToken: '' });
  });

  test.each([
    [{ pageSize: -1 }, 'page_size'],
    [{ pageSize: 501 }, 'page_size'],
    [{ pageToken: 'next' }, 'page_token'],
    [{ pageToken: Buffer.from('["a","b"]').toString('base64url') }, 'page_token'],
  ])('INVALID_ARGUMENT: %j', async (fields, field) => {
    expect(await refusal(list(own, fields))).toStrictEqual({
      is: 'INVALID_ARGUMENT INVALID_REQUEST',
      field,
    });
  });
});

describe('RotateDeviceCredential', () => {
  test('the new one has the grant of the old one, which stays valid for a day', async () => {
    const expireTime = timestampFromDate(new Date(Date.now() + 3 * 86_400_000));
    const old = await makeCredential({ rooms: ['lobby'], defaultRoom: 'lobby', expireTime });
    const rotated = await rotate(old.deviceCredential!.id);
    expect(CREDENTIAL.exec(rotated.credential)![1]).toBe(rotated.deviceCredential!.id);
    const { id: _id, createTime: _time, ...grant } = old.deviceCredential!;
    expect(rotated.deviceCredential).toMatchObject(grant);
    const inADay = timestampDate(rotated.oldCredentialRetireTime!).getTime() - Date.now();
    expect(Math.abs(inADay - 86_400_000)).toBeLessThan(60_000);
    expect(await joinStatus(old.credential)).toBe(200);
    expect(await joinStatus(rotated.credential)).toBe(200);
    const { deviceCredentials } = await own.call(method.listDeviceCredentials, { pageSize: 500 });
    const listed = deviceCredentials.find((each) => each.id === old.deviceCredential!.id);
    expect(listed!.retireTime).toStrictEqual(rotated.oldCredentialRetireTime);
  });

  test('without an overlap the old one stops at once', async () => {
    const old = await makeCredential();
    const rotated = await rotate(old.deviceCredential!.id, { overlap: { seconds: 0n } });
    expect(await joinStatus(old.credential)).toBe(401);
    expect(await joinStatus(rotated.credential)).toBe(200);
  });

  test('the same key again returns the same plaintext, and rotates nothing', async () => {
    const { deviceCredential } = await makeCredential();
    const fields = { overlap: { seconds: 604_800n }, idempotencyKey: 'rotate-once' };
    const first = await rotate(deviceCredential!.id, fields);
    expect(await rotate(deviceCredential!.id, fields)).toStrictEqual(first);
  });

  test('one of two concurrent rotations wins', async () => {
    const { id } = (await makeCredential()).deviceCredential!;
    const outcomes = await Promise.allSettled([rotate(id), rotate(id)]);
    expect(outcomes.map(({ status }) => status).sort()).toStrictEqual(['fulfilled', 'rejected']);
  });

  test.each(['', '0123', ABSENT.toUpperCase(), `${ABSENT}\0`])('INVALID_ARGUMENT: id %j', async (id) => {
    const expected = { is: 'INVALID_ARGUMENT INVALID_REQUEST', field: 'id' };
    expect(await refusal(rotate(id))).toStrictEqual(expected);
    expect(await refusal(revoke(id))).toStrictEqual(expected);
  });

  test.each([
    ['-1 s', { seconds: -1n }],
    ['a second more than a week', { seconds: 604_801n }],
    ['1.5 s', { seconds: 1n, nanos: 500_000_000 }],
  ])('INVALID_ARGUMENT: an overlap of %s', async (_, overlap) => {
    expect(await refusal(rotate(ABSENT, { overlap }))).toStrictEqual({
      is: 'INVALID_ARGUMENT INVALID_REQUEST',
      field: 'overlap',
    });
  });

  test('FAILED_PRECONDITION: rotated, revoked, expired', async () => {
    const [rotated, revoked, expired, retired] = await Promise.all(
      Array.from({ length: 4 }, async () => (await makeCredential()).deviceCredential!.id),
    );
    await rotate(rotated!);
    await revoke(revoked!);
    await setTime(expired!, 'expires_at');
    await setTime(retired!, 'retires_at');
    expect(await refusal(rotate(rotated!))).toStrictEqual({ is: 'FAILED_PRECONDITION ALREADY_ROTATED' });
    expect(await refusal(rotate(revoked!))).toStrictEqual({ is: 'FAILED_PRECONDITION ALREADY_REVOKED' });
    expect(await refusal(rotate(expired!))).toStrictEqual({ is: 'FAILED_PRECONDITION ALREADY_EXPIRED' });
    expect(await refusal(rotate(retired!))).toStrictEqual({ is: 'FAILED_PRECONDITION ALREADY_REVOKED' });
  });
});

describe('RevokeDeviceCredential', () => {
  test('it stops at once, and a second time changes nothing', async () => {
    const { credential, deviceCredential } = await makeCredential();
    const first = await revoke(deviceCredential!.id);
    expect(first.deviceCredential!.revokeTime).toBeDefined();
    expect(await joinStatus(credential)).toBe(401);
    expect(await revoke(deviceCredential!.id)).toStrictEqual(first);
  });
});

describe('NOT_FOUND', () => {
  test("another tenant's credential does not exist for the caller", async () => {
    const { id } = (await makeCredential({}, controlOf(await app.signUp()))).deviceCredential!;
    for (const call of [rotate, revoke]) {
      const [foreign, absent] = [await failureOf(call(id)), await failureOf(call(ABSENT))];
      expect([foreign.code, foreign.reason, foreign.message]).toStrictEqual([
        'NOT_FOUND',
        'NOT_FOUND',
        'device credential not found',
      ]);
      expect([absent.code, absent.reason, absent.message]).toStrictEqual([
        foreign.code,
        foreign.reason,
        foreign.message,
      ]);
    }
    // It stays valid for its owner.
    const { rows } = await app.service.deps.db.query(
      'select revoked_at, retires_at from device_credentials where id = $1',
      [id],
    );
    expect(rows).toStrictEqual([{ revoked_at: null, retires_at: null }]);
  });
});

describe('the plaintext', () => {
  const lines: string[] = [];
  let service: Service;
  beforeAll(async () => {
    const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    service = await startService(app.config, log);
  });
  afterAll(() => service.stop());

  test('is in no line of the log and in no table', async () => {
    const at = control({ port: service.grpcPort }, tenant);
    const made = await makeCredential({ idempotencyKey: 'secret-1' }, at);
    const fields = { idempotencyKey: 'secret-2' };
    const rotated = await rotate(made.deviceCredential!.id, fields, at);
    await rotate(made.deviceCredential!.id, fields, at);
    const plaintexts = [made.credential, rotated.credential];
    expect(plaintexts.every((text) => CREDENTIAL.test(text))).toBe(true);

    expect(lines.filter((line) => line.includes('RotateDeviceCredential'))).toHaveLength(2);
    const secrets = plaintexts.map((text) => text.split('_').slice(2).join('_'));
    for (const secret of secrets) expect(lines.join()).not.toContain(secret);

    const { db } = service.deps;
    const { rows: tables } = await db.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['idempotency_keys', 'device_credentials', 'events']),
    );
    for (const { name } of tables) {
      const { rows } = await db.query<{ row: string }>(`select t::text as row from ${name} t`);
      const text = rows.map(({ row }) => row).join('\n');
      for (const secret of secrets) {
        expect(text, name).not.toContain(secret);
        expect(text, name).not.toContain(Buffer.from(secret).toString('hex'));
      }
    }
    const kept = await db.query('select 1 from idempotency_keys where tenant_id = $1 and key = any($2)', [
      parseTenantId(tenant.id),
      ['secret-1', 'secret-2'],
    ]);
    expect(kept.rowCount).toBe(2);
  });
});
