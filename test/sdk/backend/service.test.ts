/** The back-end client with a real service. */
import pino from 'pino';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { startProxy, type TcpProxy } from '../../../sdk/conformance/proxy.ts';
import { type Boxoffice, type BoxofficeOptions, REASONS } from '../../../sdk/typescript/src/backend/index.ts';
import { createDevice } from '../../../sdk/typescript/src/device/index.ts';
import { startService } from '../../../src/run/service.ts';
import { spendAll } from '../../support/devices.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { client, errorOf, onEnd } from './support.ts';

const app = useService();
let tenant: TestTenant;
let thumbprint: string;

beforeAll(async () => {
  tenant = await app.paidTenant();
  ({ thumbprint } = await createDevice());
});

/** A client with the key of `of`, connected directly to the service by default. */
function clientOf(of: TestTenant, options: Partial<BoxofficeOptions> = {}): Boxoffice {
  const controlUrl = `http://127.0.0.1:${app.service.grpcPort}`;
  return client({ url: app.url, controlUrl, apiKey: of.key, ...options });
}

async function proxyTo(port: number): Promise<TcpProxy> {
  const proxy = await startProxy(port);
  onEnd(() => proxy.close());
  return proxy;
}

async function namesOf(rooms: AsyncIterable<{ name: string }>): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of rooms) names.push(name);
  return names;
}

describe('rooms', () => {
  test('are created, changed, read and ended', async () => {
    const { rooms } = clientOf(tenant);
    const created = await rooms.create({
      room: 'a-room',
      policy: { mode: 'broadcast', maxParticipants: 5 },
      metadata: 'mine',
    });
    expect(created).toMatchObject({
      name: 'a-room',
      state: 'live',
      policy: { mode: 'broadcast', maxParticipants: 5, locked: false },
      metadata: 'mine',
      createTime: expect.any(Date),
    });
    const changed = await rooms.updatePolicy({ room: 'a-room', policy: { locked: true } });
    expect(changed.policy).toMatchObject({ mode: 'broadcast', maxParticipants: 5, locked: true });
    expect(await rooms.end({ room: 'a-room' })).toMatchObject({ state: 'ended', endReason: 'ended' });
    expect(await rooms.get({ roomUid: created.uid })).toMatchObject({
      state: 'ended',
      endTime: expect.any(Date),
    });
  });

  test('are listed over several pages, as items and as pages', async () => {
    const { rooms } = clientOf(await app.signUp());
    const all = ['p1', 'p2', 'p3', 'p4', 'p5'];
    for (const room of all) await rooms.create({ room });
    await rooms.create({ room: 'other' });
    const listing = rooms.list({ namePrefix: 'p', state: 'live', pageSize: 2 });
    expect(await namesOf(listing)).toStrictEqual(all.toReversed());
    const pages: number[] = [];
    for await (const { items } of listing.pages()) pages.push(items.length);
    expect(pages).toStrictEqual([2, 2, 1]);
  });
});

describe('a lost answer', () => {
  test('of a mutation is retried: one effect, and the same answer', async () => {
    const proxy = await proxyTo(app.service.grpcPort);
    const { rooms } = clientOf(tenant, { controlUrl: proxy.url, tenant: tenant.id });
    const direct = clientOf(tenant);
    await rooms.create({ room: 'before' });
    proxy.holdsAnswers = true;
    const creating = rooms.create({ room: 'once' });
    const first = await vi.waitFor(() => direct.rooms.get({ room: 'once' }), 60_000);
    proxy.holdsAnswers = false;
    proxy.cut();
    expect(await creating).toStrictEqual(first);
    expect(await namesOf(direct.rooms.list({ namePrefix: 'once' }))).toStrictEqual(['once']);
  });

  test('of a key creation is retried: one key, and a plaintext that works', async () => {
    const proxy = await proxyTo(app.service.port);
    const { keys } = clientOf(tenant, { url: proxy.url });
    const direct = clientOf(tenant);
    proxy.holdsAnswers = true;
    const creating = keys.create({ name: 'lost' });
    const lost = async () => (await direct.keys.list()).filter(({ name }) => name === 'lost');
    await expect.poll(lost).toHaveLength(1);
    proxy.holdsAnswers = false;
    proxy.cut();
    const { apiKey } = await creating;
    expect(await lost()).toHaveLength(1);
    expect((await clientOf({ ...tenant, key: apiKey }).keys.list()).length).toBeGreaterThan(1);
  });
});

test('a watch survives a restart of the service, and sees each event once and in order', async () => {
  const start = () => startService(app.config, pino({ level: 'silent' }));
  const of = await app.signUp();
  const writer = clientOf(of);
  const before = await start();
  const proxy = await proxyTo(before.grpcPort);
  const { rooms } = clientOf(of, { controlUrl: proxy.url, tenant: of.id });
  const aborting = new AbortController();
  const seen: [bigint, string, string | undefined][] = [];
  let bookmarks = 0;
  const reader = (async () => {
    for await (const { seq, type, room } of rooms.watch({}, { signal: aborting.signal })) {
      if (type === 'bookmark') bookmarks++;
      else if (type !== 'reset') seen.push([seq, type, room?.name]);
    }
  })();
  reader.catch(() => {});

  // A watch that is cut inside its snapshot starts again, and then misses the end of room 'one'.
  await expect.poll(() => bookmarks).toBeGreaterThan(0);
  await writer.rooms.create({ room: 'one' });
  await expect.poll(() => seen.length).toBe(1);
  await before.stop();
  await writer.rooms.create({ room: 'two' });
  await writer.rooms.end({ room: 'one' });
  const after = await start();
  proxy.target = after.grpcPort;
  await writer.rooms.create({ room: 'three' });
  await expect.poll(() => seen.length).toBeGreaterThanOrEqual(4);
  aborting.abort(new Error('enough'));
  await expect(reader).rejects.toThrow('enough');
  await after.stop();
  expect(seen).toStrictEqual([
    [1n, 'room_created', 'one'],
    [2n, 'room_created', 'two'],
    [3n, 'room_ended', 'one'],
    [4n, 'room_created', 'three'],
  ]);
});

describe('failures', () => {
  const mint = () => ({ username: 'ann', deviceThumbprint: thumbprint });

  test('of every kind come with their reason', async () => {
    const { rooms, tokens } = clientOf(tenant);
    await rooms.create({ room: 'taken' });
    expect(await errorOf(rooms.create({ room: 'taken' }))).toMatchObject({
      kind: 'Exists',
      reason: 'ROOM_EXISTS',
    });
    expect(await errorOf(rooms.get({ room: 'absent' }))).toMatchObject({
      kind: 'NotFound',
      reason: 'NOT_FOUND',
    });
    const invalid = await errorOf(rooms.create({ room: 'no spaces' }));
    expect(invalid).toMatchObject({ kind: 'Invalid', code: 'INVALID_ARGUMENT', fields: [{ field: 'room' }] });
    expect(invalid.requestId).toMatch(/^req_/);
    const immutable = await errorOf(rooms.updatePolicy({ room: 'taken', policy: { region: 'x' } }));
    expect(immutable).toMatchObject({ kind: 'Invalid', reason: 'IMMUTABLE_FIELD' });

    await rooms.create({ room: 'adults', policy: { ageVerificationRequired: true } });
    expect(await errorOf(tokens.mint({ room: 'adults', ...mint() }))).toMatchObject({
      kind: 'Precondition',
      reason: 'AGE_VERIFICATION_REQUIRED',
    });
    await rooms.end({ room: 'taken' });
    expect(await errorOf(tokens.mint({ room: 'taken', ...mint() }))).toMatchObject({
      kind: 'Closed',
      reason: 'ROOM_ENDED',
    });
  });

  test('of keys and of tenants', async () => {
    const unknown = clientOf({ ...tenant, key: `${tenant.key}x` }, { tenant: tenant.id });
    expect(await errorOf(unknown.rooms.get({ room: 'x' }))).toMatchObject({ kind: 'Unauthenticated' });
    expect(await errorOf(unknown.keys.list())).toMatchObject({ kind: 'Unauthenticated', code: 401 });
    const unknownTenant = clientOf({ ...tenant, key: `${tenant.key}x` });
    expect(await errorOf(unknownTenant.rooms.get({ room: 'x' }))).toMatchObject({ kind: 'Unauthenticated' });
    for (const options of [{ tenant: tenant.id }, {}]) {
      const relay = clientOf({ ...tenant, key: tenant.relayKey }, options);
      expect(await errorOf(relay.rooms.get({ room: 'x' }))).toMatchObject({
        kind: 'Denied',
        reason: 'RELAY_KEY',
      });
    }
    const other = clientOf(tenant, { tenant: (await app.signUp()).id });
    expect(await errorOf(other.rooms.get({ room: 'x' }))).toMatchObject({
      kind: 'Denied',
      reason: 'OTHER_TENANT',
    });
  });

  test('for requests that are too large or empty', async () => {
    const { rooms, watchdogs } = clientOf(tenant, { tenant: tenant.id });
    const tooLarge = await errorOf(rooms.create({ room: 'large', metadata: 'x'.repeat(70_000) }));
    expect(tooLarge).toMatchObject({
      kind: 'Invalid',
      reason: 'INVALID_REQUEST',
      requestId: expect.stringMatching(/^req_/),
      fields: [{ field: '', description: 'the message must not have more than 65536 bytes' }],
    });
    await expect(rooms.updatePolicy({ room: 'a', policy: {} })).rejects.toThrow(
      new TypeError('policy must have a field that is to change'),
    );
    await expect(watchdogs.update({ id: 'wd' })).rejects.toThrow(
      new TypeError('watchdog must have a field that is to change'),
    );
    await expect(rooms.create({ room: null as unknown as string })).rejects.toThrow(
      new TypeError('room must be a well-formed string'),
    );
  });

  test('without credit', async () => {
    const broke = await app.paidTenant();
    const { rooms, tokens } = clientOf(broke);
    await rooms.create({ room: 'lobby' });
    expect(await tokens.mint({ room: 'lobby', ...mint() })).toMatchObject({
      username: 'ann',
      deviceThumbprint: thumbprint,
      expireTime: expect.any(Date),
    });
    await spendAll(app, broke);
    expect(await errorOf(tokens.mint({ room: 'lobby', ...mint() }))).toMatchObject({
      kind: 'Precondition',
      reason: 'NO_CREDIT',
      message: expect.stringContaining('credit'),
    });
    expect(REASONS.NO_CREDIT.kind).toBe('Precondition');
  });
});

describe('keys, billing, rates and usage', () => {
  test('keys are created, rotated and revoked', async () => {
    const { keys } = clientOf(await app.signUp());
    const { key, apiKey } = await keys.create({ name: 'second', kind: 'backend' });
    expect(apiKey).toContain(key.id);
    const { oldKeyRetires, key: successor } = await keys.rotate({ id: key.id, overlapSeconds: 60 });
    expect(oldKeyRetires.getTime()).toBeGreaterThan(Date.now());
    await keys.revoke({ id: successor.id });
    const found = (await keys.list()).find(({ id }) => id === successor.id);
    expect(found?.revokedAt).toBeInstanceOf(Date);
    const relay = (await keys.list()).find(({ kind }) => kind === 'relay')!;
    expect(await errorOf(keys.revoke({ id: relay.id }))).toMatchObject({
      kind: 'Precondition',
      reason: 'WOULD_STOP_SERVICE',
    });
    await keys.revoke({ id: relay.id, confirm: 'stop-service' });
  });

  test('billing, rates and usage', async () => {
    const of = await app.paidTenant();
    const { billing, rates } = clientOf(of);
    const relay = clientOf({ ...of, key: of.relayKey });
    const before = await billing.get();
    expect(before).toMatchObject({ tenant: { id: of.id, status: 'active' }, admitted: true });
    const record = {
      id: 'r1',
      role: 'host',
      tier: 'hd',
      seconds: 60,
      egressBytes: 50_000_000,
      ingressBytes: 1,
    } as const;
    const { total, charged } = await relay.usage.report([record, { ...record, id: 'r2' }]);
    expect(charged).toBe(2);
    expect(await relay.usage.report([record])).toMatchObject({ charged: 0, duplicates: 1 });
    expect((await billing.get()).balance.micros).toBe(before.balance.micros - total.micros);
    const { checkoutUrl } = await billing.checkout({ amountCents: 1000 });
    expect(checkoutUrl).toMatch(/^https?:/);
    const topUp = { enabled: true, belowCents: 500, amountCents: 2000 };
    expect((await billing.setAutoTopUp(topUp)).autoTopUp).toMatchObject({
      enabled: true,
      below: { micros: 5_000_000n },
    });
    expect((await billing.portal()).portalUrl).toMatch(/^https?:/);
    expect((await rates.get()).platformFeePerGib.micros).toBeGreaterThan(0n);
  });
});

describe('participants, moderation, watchdogs and device credentials', () => {
  test('a user with a token is present, and can be muted, kicked and banned', async () => {
    const { rooms, tokens, participants, moderation } = clientOf(tenant);
    await rooms.create({ room: 'party' });
    await tokens.mint({ room: 'party', username: 'Ann', deviceThumbprint: thumbprint, role: 'host' });
    expect(await participants.get({ room: 'party', username: 'ann' })).toMatchObject({
      username: 'ann',
      state: 'present',
      devices: [{ thumbprint }],
    });
    const target = { room: 'party', username: 'ann' };
    const { participant, event } = await moderation.forceMute({
      ...target,
      tracks: ['audio'],
      reason: 'noise',
    });
    expect(participant.muted).toStrictEqual(['audio']);
    expect(event).toMatchObject({
      action: 'force_mute',
      username: 'ann',
      tracks: ['audio'],
      reason: 'noise',
    });
    await moderation.releaseMute({ ...target, tracks: ['audio'] });
    await moderation.revokePublish({ ...target, tracks: ['video'] });
    await moderation.restorePublish({ ...target, tracks: ['video'] });
    expect((await moderation.kick(target)).participant).toMatchObject({
      state: 'left',
      leaveReason: 'kicked',
    });
    const { ban } = await moderation.ban({ room: 'party', username: 'ann', ttlSeconds: 3600 });
    expect(ban.expireTime?.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
    const denied = await errorOf(tokens.mint({ ...target, deviceThumbprint: thumbprint }));
    expect(denied).toMatchObject({ kind: 'Denied', reason: 'BANNED' });
    const subjects: (string | undefined)[] = [];
    for await (const { username } of moderation.listBans({ room: 'party' })) subjects.push(username);
    expect(subjects).toStrictEqual(['ann']);
    await moderation.unban({ room: 'party', username: 'ann' });
    const actions: string[] = [];
    for await (const { action } of moderation.listEvents({ room: 'party', pageSize: 3 }))
      actions.push(action);
    expect(actions).toStrictEqual([
      ...['unban', 'ban', 'kick', 'restore_publish', 'revoke_publish', 'release_mute', 'force_mute'],
    ]);
    expect((await moderation.closeRoom({ room: 'party' })).room).toMatchObject({ endReason: 'closed' });
    const left: string[] = [];
    for await (const { username } of participants.list({ room: 'party', includeLeft: true }))
      left.push(username);
    expect(left).toStrictEqual(['ann']);
  });

  test('watchdogs are armed, changed and deleted', async () => {
    const { rooms, watchdogs } = clientOf(tenant);
    await rooms.create({ room: 'watched' });
    const armed = await watchdogs.create({ room: 'watched', emptyForSeconds: 600, action: 'end_room' });
    expect(armed).toMatchObject({ emptyForSeconds: 600, action: 'end_room', state: 'armed' });
    const changed = await watchdogs.update({ id: armed.id, emptyForSeconds: 900, warnBeforeSeconds: 60 });
    expect(changed).toMatchObject({ emptyForSeconds: 900, warnBeforeSeconds: 60, action: 'end_room' });
    expect(await watchdogs.get({ id: armed.id })).toStrictEqual(changed);
    await watchdogs.delete({ id: armed.id });
    const left: string[] = [];
    for await (const { id } of watchdogs.list({ room: 'watched' })) left.push(id);
    expect(left).toStrictEqual([]);
  });

  test('device credentials are created, rotated and revoked', async () => {
    const { deviceCredentials } = clientOf(await app.signUp());
    const created = await deviceCredentials.create({
      name: 'kiosk',
      publish: ['audio', 'video'],
      rooms: ['demo-*'],
    });
    expect(created.credential).toContain(created.deviceCredential.id);
    expect(created.deviceCredential).toMatchObject({ publish: ['audio', 'video'], rooms: ['demo-*'] });
    const rotated = await deviceCredentials.rotate({ id: created.deviceCredential.id, overlapSeconds: 60 });
    expect(rotated.oldCredentialRetireTime.getTime()).toBeGreaterThan(Date.now());
    const revoked = await deviceCredentials.revoke({ id: rotated.deviceCredential.id });
    expect(revoked.revokeTime).toBeInstanceOf(Date);
    const ids: string[] = [];
    for await (const { id } of deviceCredentials.list()) ids.push(id);
    expect(ids).toStrictEqual([created.deviceCredential.id, rotated.deviceCredential.id]);
  });

  test('events can be listed, and awaited', async () => {
    const { rooms } = clientOf(await app.signUp());
    await rooms.create({ room: 'first' });
    const { events, resumeToken } = await rooms.listEvents();
    expect(events.map(({ seq, type }) => [seq, type])).toStrictEqual([[1n, 'room_created']]);
    const waiting = rooms.listEvents({ resumeToken, waitSeconds: 20 });
    await rooms.create({ room: 'second' });
    expect((await waiting).events[0]?.room?.name).toBe('second');
  });
});
