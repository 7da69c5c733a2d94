import { Event_Type } from '@boxoffice/contract/event';
import { RoomService } from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import pino from 'pino';
import { describe, expect, test } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { renderToken } from '../../../src/doors/grpc/fields.ts';
import { startService } from '../../../src/run/service.ts';
import { isBookmark, read, type StreamedEvent, seqsOf, typeOf, upTo } from '../../events/support.ts';
import { control, failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, limitedCaller } from '../../support/tenants.ts';

const app = useService();
const controlOf = useControl(app);
const { createRoom, updateRoomPolicy, endRoom, watchEvents, listEvents } = RoomService.method;
const THUMBPRINT = 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs';
const SECOND = { seconds: 1n, nanos: 0 };

function enter(of: TestControl, room: string, username: string) {
  return of.call(TokenService.method.mintClientToken, { room, username, deviceThumbprint: THUMBPRINT });
}

/** What a client sees: the type and the subject. */
function summary({ event }: StreamedEvent): string {
  const { case: kind, value } = event!.kind;
  const { name, username, room } = value as { name?: string; username?: string; room?: string };
  return [typeOf(event), kind, name ?? username ?? room].filter(Boolean).join(' ');
}

/** What the sweep does a week later. */
async function forget(tenant: TestTenant, upToSeq: number): Promise<void> {
  await app.service.deps.db.query('delete from events where tenant_id = $1 and seq <= $2', [
    parseTenantId(tenant.id),
    upToSeq,
  ]);
}

const BAD_TOKENS = [
  ['no token', () => 'hello'],
  ['of a list of rooms', () => renderToken([`rm_${'0'.repeat(32)}`])],
  ['without a number', () => renderToken(['e'])],
  ['without a tenant', () => renderToken(['e', '1', ''])],
  ['of another tenant', () => renderToken(['e', '1', '', `t_${'0'.repeat(16)}`, ''])],
  ['of another room', (id) => renderToken(['e', '1', '', id, 'lobby'])],
  ['of participants', (id) => renderToken(['e', '1', '', id, '', 'participants', ''])],
  ['with a sign', (id) => renderToken(['e', '-1', '', id, ''])],
  ['with a fraction', (id) => renderToken(['e', '1.5', '', id, ''])],
  ['with a zero too many', (id) => renderToken(['e', '01', '', id, ''])],
  ['beyond any number', (id) => renderToken(['e', '9'.repeat(30), '', id, ''])],
  ['beyond any time', (id) => renderToken(['e', '1', '9'.repeat(30), id, ''])],
] as const satisfies (readonly [string, (tenant: string) => string])[];

describe('WatchEvents', () => {
  test('starts with a snapshot, and continues with events', async () => {
    const of = controlOf(await app.paidTenant());
    for (const room of ['lobby', 'stage', 'over']) await of.call(createRoom, { room });
    await of.call(endRoom, { room: 'over' });
    await enter(of, 'stage', 'bob');
    await enter(of, 'lobby', 'ann');
    await of.call(WatchdogService.method.createWatchdog, {
      watchdog: { room: 'stage', condition: { case: 'maxDuration', value: { seconds: 3600n } }, action: 4 },
    });

    const reading = read(of.follow(watchEvents, {}));
    const snapshot = await reading.until(isBookmark);
    expect(snapshot.map(summary).toSorted()).toStrictEqual(
      [
        'RESET reset',
        'SNAPSHOT room lobby',
        'SNAPSHOT room stage',
        'SNAPSHOT participant ann',
        'SNAPSHOT participant bob',
        'SNAPSHOT watchdog stage',
        'BOOKMARK bookmark',
      ].toSorted(),
    );
    expect(typeOf(snapshot[0]!.event)).toBe('RESET');
    expect(snapshot.map((each) => each.event!.seq)).toStrictEqual([0n, 0n, 0n, 0n, 0n, 0n, 6n]);
    expect(snapshot.slice(0, -1).every((each) => each.resumeToken === '')).toBe(true);

    await of.call(endRoom, { room: 'lobby' });
    const events = (await reading.until((each) => each.event!.seq === 8n)).slice(7);
    expect(events.map(summary)).toStrictEqual(['PARTICIPANT_LEFT participant ann', 'ROOM_ENDED room lobby']);
    expect(events.every((each) => each.event!.time && each.event!.roomUid !== '')).toBe(true);
    await reading.cancel();
  });

  test('resumes where an earlier stream ended', async () => {
    const of = controlOf(await app.signUp());
    await of.call(createRoom, { room: 'lobby' });
    const first = read(of.follow(watchEvents, {}));
    const bookmark = (await first.until(isBookmark)).at(-1)!;
    await first.cancel();
    for (const room of ['a', 'b', 'c']) await of.call(createRoom, { room });

    const second = read(of.follow(watchEvents, { resumeToken: bookmark.resumeToken }));
    const told = await second.until((each) => each.event!.seq === 4n);
    expect(told.map(summary)).toStrictEqual(['a', 'b', 'c'].map((room) => `ROOM_CREATED room ${room}`));
    await second.cancel();
    const third = read(of.follow(watchEvents, { resumeToken: told[1]!.resumeToken }));
    await third.until((each) => each.event!.seq === 4n);
    expect(seqsOf(third.responses)).toStrictEqual([4n]);
    await third.cancel();
  });

  test('filters by room name, including later rooms of that name', async () => {
    const of = controlOf(await app.paidTenant());
    for (const room of ['lobby', 'stage']) await of.call(createRoom, { room });
    await enter(of, 'lobby', 'ann');
    await enter(of, 'stage', 'bob');
    const reading = read(of.follow(watchEvents, { room: 'stage' }));
    await reading.until(isBookmark);
    await of.call(endRoom, { room: 'lobby' });
    await of.call(endRoom, { room: 'stage' });
    await of.call(createRoom, { room: 'lobby' });
    await of.call(createRoom, { room: 'stage' });
    const told = await reading.until((each) => each.event!.type === Event_Type.ROOM_CREATED);
    expect(told.map(summary)).toStrictEqual([
      'RESET reset',
      'SNAPSHOT room stage',
      'SNAPSHOT participant bob',
      'BOOKMARK bookmark',
      'PARTICIPANT_LEFT participant bob',
      'ROOM_ENDED room stage',
      'ROOM_CREATED room stage',
    ]);
    await reading.cancel();
  });

  test('a token is valid for its tenant and room, and for both methods', async () => {
    const [one, other] = [controlOf(await app.signUp()), controlOf(await app.signUp())];
    for (const of of [one, other]) for (const room of ['a', 'b']) await of.call(createRoom, { room });
    const all = await one.call(listEvents, { pageSize: 1 });
    const ofRoom = await one.call(listEvents, { pageSize: 1, room: 'a' });
    for (const [of, request] of [
      [other, { resumeToken: all.resumeToken }],
      [one, { resumeToken: all.resumeToken, room: 'a' }],
      [one, { resumeToken: ofRoom.resumeToken }],
      [one, { resumeToken: ofRoom.resumeToken, room: 'b' }],
    ] as const) {
      const invalid = { code: 'INVALID_ARGUMENT', fields: ['resume_token'] };
      expect(await read(of.follow(watchEvents, request)).ended).toMatchObject(invalid);
      expect(await failureOf(of.call(listEvents, request))).toMatchObject(invalid);
    }
    const reading = read(one.follow(watchEvents, { resumeToken: ofRoom.resumeToken, room: 'a' }));
    await one.call(endRoom, { room: 'a' });
    const told = await reading.until((each) => each.event!.type === Event_Type.ROOM_ENDED);
    expect(seqsOf(told)).toStrictEqual([3n]);
    await reading.cancel();
    const { resumeToken } = told.at(-1)!;
    expect((await one.call(listEvents, { resumeToken, room: 'a' })).events).toStrictEqual([]);
  });

  test('a token from the future, as after a restore, restarts with a snapshot', async () => {
    const tenant = await app.signUp();
    const of = controlOf(tenant);
    await of.call(createRoom, { room: 'a' });
    const resumeToken = renderToken(['e', '1000', '', tenant.id, '']);
    const reading = read(of.follow(watchEvents, { resumeToken }));
    const told = await reading.until(isBookmark);
    expect(told.map(summary)).toStrictEqual(['RESET reset', 'SNAPSHOT room a', 'BOOKMARK bookmark']);
    await reading.cancel();
    const { events } = await of.call(listEvents, { resumeToken });
    expect(events.map((event) => [typeOf(event), event.seq])).toStrictEqual([
      ['RESET', 0n],
      ['ROOM_CREATED', 1n],
    ]);
  });

  test('NOT_FOUND: an unknown room', async () => {
    const of = controlOf(await app.signUp());
    const reading = read(of.follow(watchEvents, { room: 'absent' }));
    expect(await reading.ended).toMatchObject({ code: 'NOT_FOUND', reason: 'NOT_FOUND' });
    expect(reading.responses).toStrictEqual([]);
  });

  test('UNAUTHENTICATED once its key is revoked, without later events', async () => {
    const tenant = await app.signUp();
    const of = controlOf(tenant);
    const { json } = await app.request('POST', '/v1/keys', {
      key: tenant.key,
      body: { name: 'reader', kind: 'backend' },
    });
    const reading = read(of.follow(watchEvents, {}, { key: json.api_key }));
    await reading.until(isBookmark);
    const revoked = await app.request('DELETE', `/v1/keys/${json.key.id}`, { key: tenant.key });
    expect(revoked.status).toBe(204);
    await of.call(createRoom, { room: 'later' });
    expect(await reading.ended).toMatchObject({ code: 'UNAUTHENTICATED', reason: 'INVALID_API_KEY' });
    expect(seqsOf(reading.responses)).toStrictEqual([]);
  });

  test('a token that is too old restarts with a snapshot', async () => {
    const tenant = await app.signUp();
    const of = controlOf(tenant);
    for (const room of ['a', 'b', 'c']) await of.call(createRoom, { room });
    const { resumeToken } = await of.call(listEvents, { pageSize: 1 });
    await forget(tenant, 2);
    const reading = read(of.follow(watchEvents, { resumeToken }));
    const told = await reading.until(isBookmark);
    expect(told.map(({ event }) => typeOf(event))).toStrictEqual([
      'RESET',
      'SNAPSHOT',
      'SNAPSHOT',
      'SNAPSHOT',
      'BOOKMARK',
    ]);
    await of.call(createRoom, { room: 'd' });
    await reading.until((each) => each.event!.seq === 4n);
    await reading.cancel();
  });

  test('a token just within the retention time resumes', async () => {
    const tenant = await app.signUp();
    const of = controlOf(tenant);
    for (const room of ['a', 'b', 'c']) await of.call(createRoom, { room });
    const { resumeToken } = await of.call(listEvents, { pageSize: 1 });
    await forget(tenant, 1);
    const reading = read(of.follow(watchEvents, { resumeToken }));
    const told = await reading.until((each) => each.event!.seq === 3n);
    expect(seqsOf(told)).toStrictEqual([2n, 3n]);
    await reading.cancel();
  });

  test('a tenant without any event gets an empty snapshot', async () => {
    const reading = read(controlOf(await app.signUp()).follow(watchEvents, {}));
    const told = await reading.until(isBookmark);
    expect(told.map(({ event }) => typeOf(event))).toStrictEqual(['RESET', 'BOOKMARK']);
    expect(told[1]!.event!.seq).toBe(0n);
    await reading.cancel();
  });

  test.each(BAD_TOKENS)('INVALID_ARGUMENT: a token %s', async (_, tokenOf) => {
    const tenant = await app.signUp();
    const reading = read(controlOf(tenant).follow(watchEvents, { resumeToken: tokenOf(tenant.id) }));
    expect(await reading.ended).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['resume_token'] });
    expect(reading.responses).toStrictEqual([]);
  });

  test('a slow reader delays no other stream, and misses no event', async () => {
    const of = controlOf(await app.signUp());
    const stream = of.follow(watchEvents, {});
    stream.pause();
    const metadata = 'x'.repeat(4000);
    for (let at = 0; at < 120; at += 1) {
      await of.call(createRoom, { room: `r${at}`, metadata, idempotencyKey: `${at}` });
    }
    const reading = read(stream);
    stream.resume();
    await reading.until((each) => each.event!.seq === 120n);
    const begun = reading.responses.find(isBookmark)!.event!.seq;
    expect(seqsOf(reading.responses)).toStrictEqual(upTo(120).filter((seq) => seq > begun));
    await reading.cancel();
  });

  test('ends with UNAVAILABLE when the service stops, and resumes on another process', async () => {
    const tenant = await app.signUp();
    const service = await startService(app.config, pino({ level: 'silent' }));
    const reading = read(control({ port: service.grpcPort }, tenant).follow(watchEvents, {}));
    const { resumeToken } = (await reading.until(isBookmark)).at(-1)!;
    await service.stop();
    const ended = await reading.ended;
    expect(ended).toMatchObject({ code: 'UNAVAILABLE', reason: 'UNAVAILABLE' });
    expect(ended!.retryDelaySeconds).toBeGreaterThan(0);
    const of = controlOf(tenant);
    await of.call(createRoom, { room: 'lobby' });
    const next = read(of.follow(watchEvents, { resumeToken }));
    await next.until((each) => each.event!.seq === 1n);
    await next.cancel();
  });

  test('a tenant has at most a hundred streams per process', async () => {
    const [tenant, other] = [await app.paidTenant(), await app.signUp()];
    const of = controlOf(tenant);
    // Their snapshots come one by one, so most of the places are taken without a stream.
    for (let count = 0; count < 95; count += 1) app.service.deps.streams.enter(limitedCaller(idOf(tenant)));
    const readings = Array.from({ length: 5 }, () => read(of.follow(watchEvents, {})));
    await Promise.all(readings.map((each) => each.until(isBookmark)));
    const refused = await read(of.follow(watchEvents, {})).ended;
    expect(refused).toMatchObject({ code: 'UNAVAILABLE', reason: 'TOO_MANY_STREAMS' });
    expect(refused!.retryDelaySeconds).toBeGreaterThan(0);
    const others = read(controlOf(other).follow(watchEvents, {}));
    await others.until(isBookmark);
    await others.cancel();

    await of.call(createRoom, { room: 'lobby' });
    await Promise.all(readings.map((each) => each.until(({ event }) => event!.seq === 1n)));
    await readings.pop()!.cancel();
    await expect
      .poll(async () => {
        const again = read(of.follow(watchEvents, {}));
        const outcome = await Promise.race([again.ended, again.until(isBookmark)]);
        if (Array.isArray(outcome)) await again.cancel();
        return Array.isArray(outcome);
      })
      .toBe(true);
    await Promise.all(readings.map((each) => each.cancel()));
  });
});

describe('ListEvents', () => {
  test('pages hold every event once, in order', async () => {
    const of = controlOf(await app.signUp());
    for (const room of ['a', 'b', 'c', 'd', 'e']) await of.call(createRoom, { room });
    const seen: bigint[] = [];
    let resumeToken = '';
    for (const length of [2, 2, 1, 0]) {
      const page = await of.call(listEvents, { pageSize: 2, resumeToken });
      expect(page.events).toHaveLength(length);
      seen.push(...page.events.map((event) => event.seq));
      resumeToken = page.resumeToken;
    }
    expect(seen).toStrictEqual(upTo(5));
    await of.call(createRoom, { room: 'f' });
    expect((await of.call(listEvents, { resumeToken })).events.map((event) => event.seq)).toStrictEqual([6n]);
  });

  test('an event keeps its subject as it was', async () => {
    const of = controlOf(await app.signUp());
    const { room: created } = await of.call(createRoom, { room: 'lobby', metadata: '2026-01-01' });
    const change = { policy: { locked: true }, updateMask: { paths: ['locked'] } };
    const { room: updated } = await of.call(updateRoomPolicy, { room: 'lobby', ...change });
    const { events } = await of.call(listEvents, {});
    expect(events.map((event) => event.kind.value)).toStrictEqual([created, updated]);
  });

  test('filters by room name', async () => {
    const of = controlOf(await app.signUp());
    for (const room of ['a', 'b', 'c']) await of.call(createRoom, { room });
    const { events, resumeToken } = await of.call(listEvents, { room: 'b' });
    expect(events.map((event) => event.seq)).toStrictEqual([2n]);
    expect((await of.call(listEvents, { room: 'b', resumeToken })).events).toStrictEqual([]);
  });

  test('waits for events, up to a limit', async () => {
    const of = controlOf(await app.signUp());
    await of.call(createRoom, { room: 'wanted' });
    const { resumeToken } = await of.call(listEvents, { room: 'wanted' });
    const empty = await of.call(listEvents, { resumeToken, room: 'wanted', wait: SECOND });
    expect(empty).toMatchObject({ events: [], resumeToken });
    const waiting = of.call(listEvents, { resumeToken, room: 'wanted', wait: { seconds: 30n } });
    await of.call(createRoom, { room: 'other' });
    await of.call(endRoom, { room: 'wanted' });
    expect((await waiting).events.map((event) => event.seq)).toStrictEqual([3n]);
  });

  test('waits longer than other calls may take', async () => {
    const of = controlOf(await app.signUp());
    const begun = performance.now();
    const page = await of.call(listEvents, { wait: { seconds: 17n } });
    expect(page.events).toStrictEqual([]);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(16_990);
  });

  test('stops waiting when the service stops', async () => {
    const tenant = await app.signUp();
    const service = await startService(app.config, pino({ level: 'silent' }));
    const of = control({ port: service.grpcPort }, tenant);
    await of.call(listEvents, {});
    const begun = performance.now();
    const waiting = of.call(listEvents, { wait: { seconds: 30n } });
    // Calls of one connection start in order.
    await of.call(listEvents, {});
    await service.stop();
    expect((await waiting).events).toStrictEqual([]);
    expect(performance.now() - begun).toBeLessThan(25_000);
  });

  test('after a week, starts with RESET and the oldest event still stored', async () => {
    const tenant = await app.signUp();
    const of = controlOf(tenant);
    for (const room of ['a', 'b', 'c', 'd']) await of.call(createRoom, { room });
    const { resumeToken } = await of.call(listEvents, { pageSize: 1 });
    await forget(tenant, 2);
    const page = await of.call(listEvents, { resumeToken });
    expect(page.events.map((event) => [typeOf(event), event.seq])).toStrictEqual([
      ['RESET', 0n],
      ['ROOM_CREATED', 3n],
      ['ROOM_CREATED', 4n],
    ]);
    const small = await of.call(listEvents, { resumeToken, pageSize: 1 });
    expect(small.events.map(typeOf)).toStrictEqual(['RESET']);
    const next = await of.call(listEvents, { resumeToken: small.resumeToken, pageSize: 1 });
    expect(next.events.map((event) => event.seq)).toStrictEqual([3n]);
    const fromTheBeginning = await of.call(listEvents, {});
    expect(fromTheBeginning.events.map((event) => event.seq)).toStrictEqual([3n, 4n]);
    await forget(tenant, 4);
    expect((await of.call(listEvents, { resumeToken })).events).toHaveLength(1);
    expect((await of.call(listEvents, {})).events).toStrictEqual([]);
  });

  test.each([
    ['wait', { wait: { seconds: 31n } }],
    ['wait', { wait: { seconds: -1n } }],
    ['page_size', { pageSize: 501 }],
    ['room', { room: '-' }],
  ])('INVALID_ARGUMENT: %s (%#)', async (field, request) => {
    const failure = await failureOf(controlOf(await app.signUp()).call(listEvents, request));
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', fields: [field] });
  });

  test('NOT_FOUND: an unknown room', async () => {
    const failure = await failureOf(controlOf(await app.signUp()).call(listEvents, { room: 'absent' }));
    expect(failure).toMatchObject({ code: 'NOT_FOUND', reason: 'NOT_FOUND' });
  });

  test.each(BAD_TOKENS)('INVALID_ARGUMENT: a token %s', async (_, tokenOf) => {
    const tenant = await app.signUp();
    const resumeToken = tokenOf(tenant.id);
    const failure = await failureOf(controlOf(tenant).call(listEvents, { resumeToken }));
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['resume_token'] });
  });
});
