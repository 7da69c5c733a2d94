/** Input that no regular client sends. It is always the caller's error: never INTERNAL, never UNKNOWN. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { DescField, DescMessage, DescMethod } from '@bufbuild/protobuf';
import { Client, credentials, Metadata } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { nameOf, SERVICES } from '../../../scripts/error-table.ts';
import { newKey } from '../../../src/access/keys/api-key.ts';
import { openHolder } from '../../support/holder.ts';
import { seeded } from '../../support/seeded.ts';
import { useService } from '../../support/service.ts';
import { type Fields, VALID } from './conditions.ts';
import { type Ending, encode, metadataOf, send } from './failing-calls.ts';
import { frame, post, postHeaders, session } from './raw.ts';
import { makeWorld, thumbprintOf, type World } from './world.ts';

const methods = SERVICES.flatMap((service) => service.methods);
const methodOf = (name: string) => methods.find((method) => nameOf(method) === name)!;
const pathOf = (method: DescMethod) => `/${method.parent.typeName}/${method.name}`;
const GET_ROOM = methodOf('RoomService.GetRoom');
const LIST_ROOMS = methodOf('RoomService.ListRooms');
const KICK = methodOf('ModerationService.KickParticipant');

const app = useService();
let world: World;
let client: Client;

beforeAll(async () => {
  world = await makeWorld(app.service.deps.db);
  client = new Client(`127.0.0.1:${app.service.grpcPort}`, credentials.createInsecure());
});
afterAll(() => client.close());

const call = (method: DescMethod, fields: Fields, own = world, options = {}): Promise<Ending> =>
  send(
    client,
    method,
    encode(method, { tenant: own.id, ...fields }),
    metadataOf(`Bearer ${own.keys.backend}`),
    options,
  );

/** Checks that the service still works. */
const expectAlive = async () => {
  expect(await call(LIST_ROOMS, {})).toMatchObject({ code: 'OK' });
};

describe('frames', () => {
  const valid = () => encode(GET_ROOM, { tenant: world.id, room: 'live' });
  const cases: Record<string, { body: () => Uint8Array; headers?: Record<string, string>; code: string }> = {
    'no message': { body: () => Buffer.alloc(0), code: 'INVALID_ARGUMENT' },
    'an empty message': { body: () => frame(Buffer.alloc(0)), code: 'INVALID_ARGUMENT' },
    'a frame without its length': { body: () => Buffer.from([0, 0, 0]), code: 'INVALID_ARGUMENT' },
    'a frame that ends too early': {
      body: () => frame(valid(), { length: 1_000 }),
      code: 'INVALID_ARGUMENT',
    },
    'a frame that is longer than it says': {
      body: () => frame(valid(), { length: 3 }),
      code: 'INVALID_ARGUMENT',
    },
    'two messages': { body: () => Buffer.concat([frame(valid()), frame(valid())]), code: 'INVALID_ARGUMENT' },
    'a flag that does not exist': { body: () => frame(valid(), { flag: 7 }), code: 'OK' },
    'compressed by nothing': { body: () => frame(valid(), { flag: 1 }), code: 'OK' },
    'compressed by gzip': {
      body: () => frame(gzipSync(valid()), { flag: 1 }),
      headers: { 'grpc-encoding': 'gzip' },
      code: 'OK',
    },
    'no gzip': {
      body: () => frame(valid(), { flag: 1 }),
      headers: { 'grpc-encoding': 'gzip' },
      code: 'INVALID_ARGUMENT',
    },
    'half of a gzip': {
      body: () => frame(gzipSync(valid()).subarray(0, 15), { flag: 1 }),
      headers: { 'grpc-encoding': 'gzip' },
      code: 'INVALID_ARGUMENT',
    },
    'a gzip that grows': {
      body: () => frame(gzipSync(Buffer.alloc(50_000_000)), { flag: 1 }),
      headers: { 'grpc-encoding': 'gzip' },
      code: 'INVALID_ARGUMENT',
    },
    'an unknown encoding': {
      body: () => frame(valid(), { flag: 1 }),
      headers: { 'grpc-encoding': 'snappy' },
      code: 'UNIMPLEMENTED',
    },
    'more than 64 KiB': { body: () => frame(Buffer.alloc(65_537)), code: 'INVALID_ARGUMENT' },
    'a length of 4 GiB': { body: () => frame(valid(), { length: 0xffff_ffff }), code: 'INVALID_ARGUMENT' },
    'a malformed deadline': {
      body: () => frame(valid()),
      headers: { 'grpc-timeout': 'soon' },
      code: 'INVALID_ARGUMENT',
    },
    'a deadline without a unit': {
      body: () => frame(valid()),
      headers: { 'grpc-timeout': '5' },
      code: 'INVALID_ARGUMENT',
    },
    'a deadline of nothing': {
      body: () => frame(valid()),
      headers: { 'grpc-timeout': '0n' },
      code: 'DEADLINE_EXCEEDED',
    },
    'metadata that is not base64': { body: () => frame(valid()), headers: { 'x-bin': '***' }, code: 'OK' },
  };
  test.each(Object.entries(cases))('%s', async (_what, { body, headers, code }) => {
    const raw = session(app.service.grpcPort);
    const authorization = `Bearer ${world.keys.backend}`;
    const ending = await post(raw, pathOf(GET_ROOM), body(), { authorization, ...headers });
    raw.close();
    const reason = { INVALID_ARGUMENT: 'INVALID_REQUEST', UNIMPLEMENTED: 'UNIMPLEMENTED' }[code];
    expect(ending).toMatchObject({ httpStatus: 200, code, reason });
  });

  test('64 KiB are read', async () => {
    const padding = 65_536 - encode(LIST_ROOMS, { tenant: world.id }).length - 4;
    // An unknown field: number 1000, this many bytes.
    const unknown = Buffer.concat([
      Buffer.from([0xc2, 0x3e, ...varint(padding - 1)]),
      Buffer.alloc(padding - 1),
    ]);
    const bytes = Buffer.concat([encode(LIST_ROOMS, { tenant: world.id }), unknown]);
    expect(bytes.length).toBe(65_536);
    const metadata = metadataOf(`Bearer ${world.keys.backend}`);
    expect(await send(client, LIST_ROOMS, bytes, metadata)).toMatchObject({ code: 'OK' });
  });
});

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}

test.each(['Check', 'Watch', 'List'])('health %s: bytes that are not a message', async (method) => {
  const raw = session(app.service.grpcPort);
  onTestFinished(() => raw.destroy());
  const ending = await post(raw, `/grpc.health.v1.Health/${method}`, frame(Buffer.from([0x0f])));
  expect(ending).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'INVALID_REQUEST' });
});

describe('headers', () => {
  test.each(['text/plain', 'application/json', ''])('the content type %j is 415', async (type) => {
    const raw = session(app.service.grpcPort);
    const ending = await post(raw, pathOf(GET_ROOM), frame(Buffer.alloc(0)), { 'content-type': type });
    raw.close();
    expect(ending).toMatchObject({ httpStatus: 415, code: undefined });
  });

  test.each([
    '/boxoffice.control.v1.RoomService/BurnRoom',
    '/boxoffice.control.v1.CinemaService/GetRoom',
    '/boxoffice.control.v1.RoomService/getroom',
    '/',
    '//',
    '/%00',
    '/__proto__/constructor',
    `/${'a'.repeat(10_000)}`,
  ])('there is no %s', async (path) => {
    const raw = session(app.service.grpcPort);
    expect(await post(raw, path, frame(Buffer.alloc(0)))).toMatchObject({ code: 'UNIMPLEMENTED' });
    raw.close();
  });

  test('of two keys, both must be right', async () => {
    const bytes = frame(encode(LIST_ROOMS, { tenant: world.id }));
    const head = (...keys: string[]): [string, string][] => [
      [':method', 'POST'],
      [':scheme', 'http'],
      [':authority', 'localhost'],
      [':path', pathOf(LIST_ROOMS)],
      ['content-type', 'application/grpc'],
      ...keys.map((key): [string, string] => ['authorization', `Bearer ${key}`]),
    ];
    const { backend } = world.keys;
    const wrong = newKey('svc').plaintext;
    // Only an answer that passed authentication names a room.
    const names = (answer: Buffer) => answer.includes('rm_');
    expect(names(await postHeaders(app.service.grpcPort, head(backend), bytes))).toBe(true);
    expect(names(await postHeaders(app.service.grpcPort, head(wrong, backend), bytes))).toBe(false);
    await expectAlive();
  });

  test('100 KiB of them fail only that call', async () => {
    const raw = session(app.service.grpcPort);
    const ending = await post(raw, pathOf(GET_ROOM), frame(Buffer.alloc(0)), {
      'x-long': 'a'.repeat(100_000),
    });
    raw.destroy();
    expect(ending.code).toBeUndefined();
    await expectAlive();
  });
});

/** Paths of a message's string fields, with setters. */
interface Place {
  readonly path: string;
  set(fields: Fields, value: string): Fields;
}

function stringsOf(message: DescMessage): Place[] {
  return message.fields.flatMap((field) => placesOf(field));
}

function placesOf(field: DescField): Place[] {
  const { name, localName, oneof } = field;
  const put = (fields: Fields, value: unknown): Fields =>
    oneof ? { ...fields, [oneof.localName]: { case: localName, value } } : { ...fields, [localName]: value };
  const get = (fields: Fields) => (fields[localName] ?? {}) as Fields;
  if (field.fieldKind === 'message') {
    return stringsOf(field.message).map((inner) => ({
      path: `${name}.${inner.path}`,
      set: (fields, value) => put(fields, inner.set(get(fields), value)),
    }));
  }
  if (field.scalar !== undefined && String(field.scalar) === '9') {
    const isList = field.fieldKind === 'list';
    return [{ path: name, set: (fields, value) => put(fields, isList ? [value] : value) }];
  }
  return [];
}

const places = methods.flatMap((method) => stringsOf(method.input).map((place) => ({ method, ...place })));

/** Output-only fields, and fields that the mask does not name, are not validated. */
const IGNORED =
  /^CreateWatchdog watchdog\.(id|room_uid)$|^UpdateWatchdog watchdog\.(room|room_uid)$|^UpdateRoomPolicy policy\.(region|host_capabilities|audience_capabilities)$/;

describe('text', () => {
  test.each([
    ['NUL', 'a\0b'],
    ['60,000 characters', 'a'.repeat(60_000)],
    ['line breaks', 'a\r\nb: c'],
    ['a right-to-left override', '\u202ea'],
  ])('%s in any field is INVALID_ARGUMENT, or is text', async (what, text) => {
    expect(places.length).toBeGreaterThan(100);
    const isFreeText = what !== 'NUL' && what !== '60,000 characters';
    for (const { method, path, set } of places) {
      const own = await makeWorldOnce(isFreeText ? 'free' : 'strict');
      const fields = set({ tenant: own.id, ...VALID[nameOf(method)]!(own) }, text);
      const { code, message } = await call(method, fields, own);
      const name = `${method.name} ${path}`;
      const expected =
        path === 'tenant'
          ? ['PERMISSION_DENIED']
          : IGNORED.test(name)
            ? ['OK', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION']
            : isFreeText && ['metadata', 'reason', 'name'].includes(path)
              ? ['OK', 'NOT_FOUND', 'ALREADY_EXISTS', 'FAILED_PRECONDITION']
              : ['INVALID_ARGUMENT'];
      expect(expected, `${name}: ${code} ${message}`).toContain(code);
    }
    await expectAlive();
  });
});

const made = new Map<string, Promise<World>>();
function makeWorldOnce(name: string): Promise<World> {
  const found = made.get(name) ?? makeWorld(app.service.deps.db);
  made.set(name, found);
  return found;
}

describe('random requests', () => {
  const TEXTS = [
    ...['', 'live', 'live-over', 'ann', 'villain', 'mod', 'a b', '\0', '\uffff', '💥', '*', '../..', "'; --"],
    ...['rm_', 'wd_', '192.0.2.0/24', '::/0', '1e9', 'null', 'host', 'chat.send', thumbprintOf('ann')],
  ];
  const WHOLE = [0, 1, -1, 2, 99, 500, 501, 2 ** 31 - 1, -(2 ** 31)];
  const LARGE = [0n, 1n, -1n, 900n, 901n, 2n ** 63n - 1n, -(2n ** 63n), 253_402_300_800n];

  function randomMessage(message: DescMessage, random: () => number): Fields {
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
    const value = (field: DescField): unknown => {
      if (field.message) return randomMessage(field.message, random);
      if (field.enum) return pick([0, 1, 2, 3, 4, 5, 99, -1]);
      const one = () => {
        switch (String(field.scalar)) {
          case '9':
            return pick(TEXTS);
          case '8':
            return random() < 0.5;
          case '3':
          case '4':
            return pick(String(field.scalar) === '4' ? LARGE.filter((each) => each >= 0n) : LARGE);
          default:
            return pick(WHOLE);
        }
      };
      return one();
    };
    const fields: Record<string, unknown> = {};
    for (const field of message.fields) {
      if (random() < 0.4) continue;
      const filled =
        field.fieldKind === 'list'
          ? Array.from({ length: pick([0, 1, 3]) }, () => value(field))
          : value(field);
      if (field.oneof) fields[field.oneof.localName] = { case: field.localName, value: filled };
      else fields[field.localName] = filled;
    }
    return fields;
  }

  const ROUNDS = 25;

  test.each(methods.map((method, seed) => ({ name: nameOf(method), method, seed })))(
    '$name never fails with a server error',
    async ({ method, seed }) => {
      const random = seeded(seed);
      const own = await makeWorld(app.service.deps.db);
      for (let round = 0; round < ROUNDS; round += 1) {
        const wild = randomMessage(method.input, random);
        const valid = VALID[nameOf(method)]!(own);
        const half = Object.fromEntries(Object.entries(wild).filter(() => random() < 0.4));
        const fields: Fields = { ...(round % 2 === 0 ? wild : { ...valid, ...half }), tenant: own.id };
        if ('wait' in fields) Object.assign(fields, { wait: undefined });
        const { code, message } = await call(method, fields, own, { deadline: Date.now() + 20_000 });
        expect(
          ['INTERNAL', 'UNKNOWN', 'UNAVAILABLE', 'DEADLINE_EXCEEDED'],
          `${message} ${show(fields)}`,
        ).not.toContain(code);
      }
      for (let round = 0; round < ROUNDS; round += 1) {
        const bytes = Buffer.from(Array.from({ length: Math.floor(random() * 60) }, () => random() * 256));
        const { code } = await send(client, method, bytes, metadataOf(`Bearer ${own.keys.backend}`));
        expect(['INVALID_ARGUMENT', 'PERMISSION_DENIED']).toContain(code);
      }
    },
  );

  function show(fields: Fields): string {
    return JSON.stringify(fields, (_, each) => (typeof each === 'bigint' ? `${each}n` : each));
  }
});

describe('callers that are slow', () => {
  const paths = [LIST_ROOMS, methodOf('RoomService.WatchEvents')].map(pathOf);

  test.each([...paths, '/grpc.health.v1.Health/Check', '/grpc.health.v1.Health/Watch'])(
    '%s: a request that is incomplete after 15 s fails',
    async (path) => {
      const raw = session(app.service.grpcPort);
      onTestFinished(() => raw.destroy());
      await once(raw, 'remoteSettings');
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const bodies = [frame(Buffer.alloc(0)), Buffer.from([0, 0, 0])];
      const endings = bodies.map((body) => post(raw, path, body, {}, { isWhole: false }));
      // The answer to a ping comes after the calls were received.
      await new Promise<void>((resolve) => void raw.ping(() => resolve()));
      vi.advanceTimersByTime(14_900);
      const early = await Promise.race([
        ...endings,
        new Promise((resolve) => void raw.ping(() => resolve('none'))),
      ]);
      expect(early).toBe('none');
      vi.advanceTimersByTime(100);
      for (const ending of endings) {
        expect(await ending).toMatchObject({ code: 'DEADLINE_EXCEEDED', reason: 'DEADLINE_EXCEEDED' });
      }
    },
  );

  test.each([
    ['says nothing', []],
    ['says half of a greeting', ['PRI * HT']],
  ])('a connection that %s is closed after 5 minutes', async (_what, said) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const socket = connect(app.service.grpcPort, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const closed = once(socket, 'close');
    // The service has accepted the connection once it sends its settings.
    await once(socket, 'data');
    for (const text of said) socket.write(text);
    socket.resume();
    vi.advanceTimersByTime(300_000);
    await closed;
  });
});

describe('callers that do not wait', () => {
  const kick = (key: string) => ({ room: 'live', username: 'ann', idempotencyKey: key });
  const kicks = async (own: World) => {
    const { rows } = await app.service.deps.db.query<{ count: number }>(
      `select count(*)::integer as count from moderation_events where tenant_id = $1 and action = 'kick'`,
      [own.tenant],
    );
    return rows[0]!.count;
  };

  test('a deadline that passes: DEADLINE_EXCEEDED, and the same key has one effect', async () => {
    const own = await makeWorld(app.service.deps.db);
    const holder = await openHolder(app.service.deps.db);
    await holder.query('select from rooms where tenant_id = $1 for update', [own.tenant]);
    const late = await call(KICK, kick('late'), own, { deadline: Date.now() + 100 });
    await holder.release();
    expect(late.code).toBe('DEADLINE_EXCEEDED');
    expect(await call(KICK, kick('late'), own)).toMatchObject({ code: 'OK' });
    expect(await kicks(own)).toBe(1);
  });

  test('a deadline of 1 ms, and one that is over', async () => {
    for (const deadline of [Date.now() - 1_000, Date.now() + 1]) {
      const { code } = await call(LIST_ROOMS, {}, world, { deadline });
      expect(['DEADLINE_EXCEEDED', 'OK']).toContain(code);
    }
    await expectAlive();
  });

  test('a call that is cancelled at any moment takes effect once or not at all', async () => {
    const own = await makeWorld(app.service.deps.db);
    for (let round = 0; round < 20; round += 1) {
      const bytes = encode(KICK, { tenant: own.id, ...kick(`cancelled-${round}`) });
      const same = (message: Buffer) => message;
      const metadata = metadataOf(`Bearer ${own.keys.backend}`);
      const sent = client.makeUnaryRequest(pathOf(KICK), same, same, bytes, metadata, {}, () => {});
      // From before the call is read until after it has been answered.
      for (let turn = 0; turn < round; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      sent.cancel();
      expect(await call(KICK, kick(`cancelled-${round}`), own)).toMatchObject({ code: 'OK' });
      expect(await kicks(own)).toBe(round + 1);
    }
  });

  test('a caller that cancels gets CANCELLED', async () => {
    const holder = await openHolder(app.service.deps.db);
    await holder.query('select from rooms where tenant_id = $1 for update', [world.tenant]);
    const bytes = encode(KICK, { tenant: world.id, ...kick('gone') });
    const same = (message: Buffer) => message;
    const error = new Promise<{ code: number }>((resolve) => {
      const metadata = metadataOf(`Bearer ${world.keys.backend}`);
      const sent = client.makeUnaryRequest(pathOf(KICK), same, same, bytes, metadata, {}, (failed) =>
        resolve(failed!),
      );
      sent.on('metadata', () => sent.cancel());
    });
    expect((await error).code).toBe(1);
    await holder.release();
  });
});

describe('many at once', () => {
  test('10,000 incomplete calls do not block others', async () => {
    const before = process.memoryUsage().rss;
    const sessions = Array.from({ length: 50 }, () => session(app.service.grpcPort));
    await Promise.all(sessions.map((each) => once(each, 'remoteSettings')));
    for (const each of sessions) {
      for (let count = 0; count < 200; count += 1) {
        const headers = {
          ':method': 'POST',
          ':path': pathOf(LIST_ROOMS),
          'content-type': 'application/grpc',
        };
        each
          .request(headers)
          .on('error', () => {})
          .write(Buffer.from([0, 0, 0]));
      }
    }
    await Promise.all(
      sessions.map((each) => new Promise<void>((resolve) => void each.ping(() => resolve()))),
    );
    await expectAlive();
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024);
    for (const each of sessions) each.destroy();
    await expectAlive();
  });

  test('an unread stream delays no other caller', async () => {
    const own = await makeWorld(app.service.deps.db);
    const watch = methodOf('RoomService.WatchEvents');
    const body = frame(encode(watch, { tenant: own.id }));
    const raw = session(app.service.grpcPort, { initialWindowSize: 0 });
    const authorization = `Bearer ${own.keys.backend}`;
    const headers = {
      ':method': 'POST',
      ':path': pathOf(watch),
      'content-type': 'application/grpc',
      authorization,
    };
    const stream = raw.request(headers).on('error', () => {});
    stream.end(body);
    await once(stream, 'response');

    const create = methodOf('RoomService.CreateRoom');
    for (let count = 0; count < 50; count += 1) {
      const fields = { room: `room-${count}`, metadata: 'a'.repeat(4_000) };
      expect(await call(create, fields, own)).toMatchObject({ code: 'OK' });
    }
    expect(await call(watch, {}, own)).toMatchObject({ code: 'OK' });
    raw.destroy();
    await expectAlive();
  });

  test('an address with too many wrong keys is refused, and a correct key is not', async () => {
    const address = '203.0.113.9';
    const from = (key: string) => {
      const metadata = new Metadata();
      metadata.set('authorization', `Bearer ${key}`);
      metadata.set('x-forwarded-for', address);
      return send(client, LIST_ROOMS, encode(LIST_ROOMS, { tenant: world.id }), metadata);
    };
    const codes = new Set<string>();
    for (let count = 0; count < 100; count += 1) codes.add((await from(newKey('svc').plaintext)).code);
    expect([...codes]).toStrictEqual(['UNAUTHENTICATED']);
    const refused = await from(newKey('svc').plaintext);
    expect(refused).toMatchObject({ code: 'UNAVAILABLE', info: { reason: 'TOO_MANY_FAILED_KEYS' } });
    expect(refused.retryDelayMs).toBeGreaterThan(0);
    expect(refused.retryDelayMs).toBeLessThanOrEqual(60_000);
    expect(await from(world.keys.backend)).toMatchObject({ code: 'OK' });
  });
});
