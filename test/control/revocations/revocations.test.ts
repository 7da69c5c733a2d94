import { ModerationService } from '@boxoffice/contract/moderation_service';
import { RoomService } from '@boxoffice/contract/room_service';
import { TrackKind } from '@boxoffice/contract/track_kind';
import { describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { newTenantId, parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { findRevocations, findStandings } from '../../../src/control/revocations/revocations.sql.ts';
import { revocationClaimsOf } from '../../../src/control/revocations/revocations.ts';
import { endRoom } from '../../../src/control/rooms/end-room.ts';
import { expel } from '../../../src/control/rooms/participants.sql.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { moved } from '../../support/append-only.ts';
import { createCredential } from '../../support/devices.ts';
import { useControl } from '../../support/grpc.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { useService } from '../../support/service.ts';
import { deviceOf, mint, newStage, type Stage } from '../moderation/support.ts';
import { hashed } from './support.ts';

const app = useService();
const controlOf = useControl(app);
const { kickParticipant, banSubject, unbanSubject, forceMute, releaseMute, revokePublish } =
  ModerationService.method;

const user = (value: string) => ({ subject: { case: 'username', value } as const });
const device = (value: string) => ({ subject: { case: 'deviceThumbprint', value } as const });
const cidr = (value: string) => ({ subject: { case: 'cidr', value } as const });

async function claimsOf({ tenant }: Pick<Stage, 'tenant'>) {
  const id = parseTenantId(tenant.id)!;
  const state = await findRevocations(app.service.deps.db, id);
  return revocationClaimsOf(id, state!, 'https://boxoffice.example:8443/base');
}

/** The salt that tokens of the tenant carry. */
async function saltOf({ id }: { id: string }): Promise<string> {
  const { rows } = await app.service.deps.db.query<{ salt: string }>(
    'select range_salt as salt from tenants where id = $1',
    [parseTenantId(id)],
  );
  return rows[0]!.salt;
}

/** Move everything that happened further back. */
async function pass(interval: string): Promise<void> {
  const { db } = app.service.deps;
  const back = (column: string) => `${column} = ${moved(column, `${interval} ago`)}`;
  await db.query(`update participants set ${back('revoked_at')}`);
  await db.query(`update rooms set ${back('ended_at')}`);
  await db.query(`update bans set ${back('created_at')}, ${back('expires_at')}`);
  await changeReferenceTable(db, `update device_credentials set ${back('revoked_at')}`, []);
}

test('the last revocation of each tenant is its own', async () => {
  const stages = [await newStage(app, controlOf), await newStage(app, controlOf)] as const;
  for (const { control } of stages) await control.call(banSubject, user('bob'));
  await stages[0].control.call(banSubject, user('eve'));
  const last = await Promise.all(stages.map(async (stage) => (await claimsOf(stage)).seq));
  const ids = stages.map(({ tenant }) => parseTenantId(tenant.id)!);
  const found = await findStandings(app.service.deps.db, ids);
  expect(ids.map((id) => Number(found.get(id)?.seq))).toEqual(last);
  expect(last[0]).not.toBe(last[1]);
});

describe('a snapshot', () => {
  test('of a tenant without revocations has its tenant and lifetime', async () => {
    const tenant = await app.signUp();
    const claims = await claimsOf({ tenant });
    expect(claims).toStrictEqual({
      iss: 'https://boxoffice.example:8443/base',
      aud: 'relay:boxoffice.example:8443',
      tid: tenant.id,
      seq: 0,
      iat: expect.any(Number),
      exp: claims.iat + 60,
      epochs: [],
      bans: [],
      mutes: [],
      closed: [],
      credentials: [],
      reasons: [],
    });
    expect(Math.abs(claims.iat - Date.now() / 1000)).toBeLessThan(30);
  });

  test('does not exist for an unknown tenant', async () => {
    expect(await findRevocations(app.service.deps.db, newTenantId())).toBeUndefined();
  });

  test('lists kicked users with their new epoch', async () => {
    const stage = await newStage(app, controlOf);
    for (const name of ['ann', 'bob']) await mint(stage, name);
    const before = await claimsOf(stage);
    expect(before.epochs).toStrictEqual([]);
    const { event } = await stage.control.call(kickParticipant, { room: 'lobby', username: 'bob' });
    const claims = await claimsOf(stage);
    expect(claims.epochs).toStrictEqual([[hashed('epoch', stage.roomUid, 'bob'), 1]]);
    expect(claims.seq).toBeGreaterThanOrEqual(Number(event!.id));
    expect(claims.seq).toBeGreaterThan(before.seq);
  });

  test('lists each withheld right once, and nothing once all are restored', async () => {
    const stage = await newStage(app, controlOf);
    await mint(stage, 'bob');
    const target = { room: 'lobby', username: 'bob' };
    const both = { ...target, tracks: [TrackKind.AUDIO, TrackKind.VIDEO] };
    await stage.control.call(forceMute, both);
    await stage.control.call(revokePublish, { ...target, tracks: [TrackKind.AUDIO, TrackKind.SCREEN] });
    const { mutes, epochs } = await claimsOf(stage);
    expect(mutes).toStrictEqual([[hashed('mute', stage.roomUid, 'bob'), 'audio', 'screen', 'video']]);
    expect(epochs).toStrictEqual([]);

    await stage.control.call(releaseMute, both);
    await stage.control.call(ModerationService.method.restorePublish, {
      ...target,
      tracks: [TrackKind.AUDIO, TrackKind.SCREEN],
    });
    expect((await claimsOf(stage)).mutes).toStrictEqual([]);
  });

  test('lists bans of a room and of the tenant, and no lifted ones', async () => {
    const stage = await newStage(app, controlOf);
    const { tenant, roomUid, control } = stage;
    const ban = (fields: Parameters<typeof control.call<typeof banSubject>>[1]) =>
      control.call(banSubject, fields);
    await ban({ room: 'lobby', ...user('bob') });
    await ban({ ...user('eve') });
    await ban({ room: 'lobby', ...device(deviceOf('bob')) });
    await ban({ ...device(deviceOf('eve')) });
    await ban({ room: 'lobby', ...cidr('192.0.2.0/24') });
    await ban({ ...cidr('2001:db8::/32') });
    await ban({ ...user('mallory') });
    await control.call(unbanSubject, { ...user('mallory') });

    const salt = await saltOf(tenant);
    const room = hashed('room', roomUid);
    const { bans } = await claimsOf(stage);
    const expected = [
      [room, 'user', hashed('user', roomUid, 'bob'), null],
      ['*', 'user', hashed('user', tenant.id, 'eve'), null],
      [room, 'device', hashed('device', roomUid, deviceOf('bob')), null],
      ['*', 'device', hashed('device', tenant.id, deviceOf('eve')), null],
      [room, 'range', `24/${hashed('range', roomUid, 'c0000200/24')}`, null],
      ['*', 'range', `32/${hashed('range', salt, '20010db8000000000000000000000000/32')}`, null],
    ];
    expect(new Set(bans.map((each) => each.join()))).toEqual(new Set(expected.map((each) => each.join())));
  });

  test('rounds the end of a ban up to whole seconds', async () => {
    const stage = await newStage(app, controlOf);
    await stage.control.call(banSubject, { ...user('bob'), ttl: { seconds: 90n } });
    const { rows } = await app.service.deps.db.query(
      'select extract(epoch from expires_at)::double precision as end from bans where tenant_id = $1',
      [parseTenantId(stage.tenant.id)],
    );
    const { bans } = await claimsOf(stage);
    expect(bans[0]![3]).toBe(Math.ceil(rows[0]!.end));
  });

  test('lists an ended room as closed, and nothing else about it', async () => {
    const stage = await newStage(app, controlOf);
    for (const name of ['ann', 'bob']) await mint(stage, name);
    await stage.control.call(banSubject, { room: 'lobby', ...cidr('192.0.2.0/24') });
    await stage.control.call(RoomService.method.endRoom, { room: 'lobby' });
    const { closed, epochs, bans } = await claimsOf(stage);
    expect([closed, epochs, bans]).toStrictEqual([[hashed('room', stage.roomUid)], [], []]);
  });

  test('tells a kick, a ban and the kick of a watchdog apart', async () => {
    const stage = await newStage(app, controlOf);
    const { control, roomUid } = stage;
    const { db } = app.service.deps;
    for (const name of ['ann', 'bob', 'cem', 'dan', 'eve']) await mint(stage, name);
    await control.call(kickParticipant, { room: 'lobby', username: 'ann' });
    await control.call(banSubject, { room: 'lobby', ...user('bob') });
    await control.call(banSubject, { ...device(deviceOf('cem')) });
    await inTransaction(db, (tx) => expel(tx, parseTenantId(stage.tenant.id)!, roomUid, 'watchdog', ['dan']));
    await control.call(forceMute, { room: 'lobby', username: 'eve', tracks: [TrackKind.AUDIO] });
    const { reasons } = await claimsOf(stage);
    expect(new Map(reasons)).toStrictEqual(
      new Map([
        [hashed('epoch', roomUid, 'ann'), 'kicked'],
        [hashed('epoch', roomUid, 'bob'), 'banned'],
        [hashed('epoch', roomUid, 'cem'), 'banned'],
        [hashed('epoch', roomUid, 'dan'), 'watchdog'],
      ]),
    );
  });

  test('keeps the reason when the user returns, and takes that of the newest kick or ban', async () => {
    const stage = await newStage(app, controlOf);
    const target = { room: 'lobby', username: 'bob' };
    const found = async () => {
      const { epochs, reasons } = await claimsOf(stage);
      return [epochs.map(([, epoch]) => epoch), reasons.map(([, reason]) => reason)];
    };
    await mint(stage, 'bob');
    await stage.control.call(banSubject, { room: 'lobby', ...user('bob') });
    await stage.control.call(unbanSubject, { room: 'lobby', ...user('bob') });
    await mint(stage, 'bob');
    expect(await found()).toStrictEqual([[1], ['banned']]);
    await stage.control.call(kickParticipant, target);
    expect(await found()).toStrictEqual([[2], ['kicked']]);
    // A user who has left may still hold tokens.
    await stage.control.call(kickParticipant, target);
    expect(await found()).toStrictEqual([[3], ['kicked']]);
  });

  test('says whether a room was closed by a moderator, ended or ended by a watchdog', async () => {
    const stage = await newStage(app, controlOf);
    const { control, tenant } = stage;
    const { db } = app.service.deps;
    const roomOf = async (room: string) =>
      (await control.call(RoomService.method.createRoom, { room })).room!.uid;
    const ended = await roomOf('ended');
    const watched = await roomOf('watched');
    await control.call(ModerationService.method.closeRoom, { room: 'lobby' });
    await control.call(RoomService.method.endRoom, { room: 'ended' });
    await inTransaction(db, (tx) => endRoom(tx, parseTenantId(tenant.id)!, { uid: watched }, 'watchdog'));
    const { closed, reasons } = await claimsOf(stage);
    const expected = [
      [hashed('room', stage.roomUid), 'closed'],
      [hashed('room', ended), 'ended'],
      [hashed('room', watched), 'watchdog'],
    ] as const;
    expect(new Map(reasons)).toStrictEqual(new Map(expected));
    expect(new Set(closed)).toStrictEqual(new Set(expected.map(([room]) => room)));
  });

  test('does not tell a reader who knows the tenant which ranges are banned', async () => {
    const one = await newStage(app, controlOf);
    const other = await newStage(app, controlOf);
    for (const { control } of [one, other]) {
      await control.call(banSubject, cidr('192.0.2.0/24'));
      await control.call(banSubject, { room: 'lobby', ...cidr('192.0.2.0/24') });
    }
    const values = [...(await claimsOf(one)).bans, ...(await claimsOf(other)).bans].map((each) => each[2]);
    expect(new Set(values).size).toBe(4);
    expect(JSON.stringify(values)).not.toContain('192.0.2');
    // What such a reader can compute.
    const guess = `24/${hashed('range', one.tenant.id, 'c0000200/24')}`;
    expect(values).not.toContain(guess);
    expect(JSON.stringify(await claimsOf(one))).not.toContain(await saltOf(one.tenant));
  });

  test('of a tenant that never paid, and so has no tokens, does not grow with what it ends', async () => {
    const tenant = await app.signUp();
    const control = controlOf(tenant);
    await control.call(RoomService.method.createRoom, { room: 'lobby' });
    await control.call(RoomService.method.endRoom, { room: 'lobby' });
    const { id } = await createCredential(app, tenant);
    await app.request('DELETE', `/v1/device-credentials/${id}`, { key: tenant.key });
    expect(await claimsOf({ tenant })).toMatchObject({ closed: [], credentials: [], reasons: [] });
  });

  test('lists the device credentials that were revoked, and no rotated or expired ones', async () => {
    const tenant = await app.paidTenant();
    const change = (method: string, path: string, body?: object) =>
      app.request(method, `/v1/device-credentials/${path}`, { key: tenant.key, body });
    const [revoked, rotated, idle] = await Promise.all([1, 2, 3].map(() => createCredential(app, tenant)));
    const before = await claimsOf({ tenant });
    await change('POST', `${rotated!.id}/rotate`, { overlap_seconds: 0 });
    await change('DELETE', revoked!.id);
    await change('DELETE', revoked!.id);
    await numberEvents(app.service.deps.db, [parseTenantId(tenant.id)!]);
    const claims = await claimsOf({ tenant });
    expect(claims.credentials).toStrictEqual([hashed('credential', tenant.id, revoked!.id)]);
    expect(claims.seq).toBeGreaterThan(before.seq);
    expect(JSON.stringify(claims)).not.toContain(revoked!.id);
    expect(JSON.stringify(claims)).not.toContain(idle!.id);
  });

  test('never contains a user, a device or a room in plain text', async () => {
    const stage = await newStage(app, controlOf);
    // Short names would sometimes appear in hashes by chance.
    const username = 'bob-the-builder';
    await mint(stage, username);
    await stage.control.call(forceMute, { room: 'lobby', username, tracks: [TrackKind.AUDIO] });
    await stage.control.call(banSubject, { room: 'lobby', ...user(username) });
    await stage.control.call(banSubject, { room: 'lobby', ...device(deviceOf(username)) });
    const text = JSON.stringify(await claimsOf(stage));
    for (const secret of [username, deviceOf(username), stage.roomUid, 'lobby', stage.tenant.keyId]) {
      expect(text).not.toContain(secret);
    }
  });
});

test('after 16 minutes only address ranges are left', async () => {
  const stage = await newStage(app, controlOf);
  for (const name of ['ann', 'bob', 'eve']) await mint(stage, name);
  await stage.control.call(RoomService.method.createRoom, { room: 'attic' });
  await stage.control.call(kickParticipant, { room: 'lobby', username: 'ann' });
  await stage.control.call(forceMute, { room: 'lobby', username: 'bob', tracks: [TrackKind.AUDIO] });
  await stage.control.call(banSubject, { room: 'lobby', ...user('eve') });
  await stage.control.call(banSubject, { ...cidr('192.0.2.0/24') });
  await stage.control.call(RoomService.method.endRoom, { room: 'attic' });
  const { id } = await createCredential(app, stage.tenant);
  await app.request('DELETE', `/v1/device-credentials/${id}`, { key: stage.tenant.key });
  const sizes = async () => {
    const { epochs, mutes, bans, closed, credentials } = await claimsOf(stage);
    return [epochs, mutes, bans, closed, credentials].map((list) => list.length);
  };
  const all = [2, 1, 2, 1, 1];
  expect(await sizes()).toStrictEqual(all);
  await pass('15 minutes 30 seconds');
  expect(await sizes()).toStrictEqual(all);
  await pass('30 seconds');
  expect(await sizes()).toStrictEqual([0, 0, 1, 0, 0]);
  const value = `24/${hashed('range', await saltOf(stage.tenant), 'c0000200/24')}`;
  expect((await claimsOf(stage)).bans).toStrictEqual([['*', 'range', value, null]]);
});
