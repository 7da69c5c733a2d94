/** Mutations that are sent more than once, through the control plane. */
import {
  type CreateRoomRequest,
  CreateRoomResponseSchema,
  RoomService,
} from '@boxoffice/contract/room_service';
import { toBinary } from '@bufbuild/protobuf';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { type Service, startService } from '../../../src/run/service.ts';
import { eventsOf } from '../../support/events.ts';
import { control, failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../db/proxy.ts';

const app = useService();
const controlOf = useControl(app);
const { createRoom, endRoom, listRooms } = RoomService.method;

async function createBytes(of: TestControl, request: Partial<CreateRoomRequest>): Promise<string> {
  const answer = await of.call(createRoom, request as { room: string });
  return Buffer.from(toBinary(CreateRoomResponseSchema, answer)).toString('hex');
}

async function eventTypesOf(tenant: TestTenant): Promise<string[]> {
  const events = await eventsOf(app.service.deps.db, idOf(tenant));
  return events.map(({ type }) => type);
}

describe('the same key again', () => {
  test('gets the same bytes and has no effect', async () => {
    const tenant = await app.signUp();
    const of = controlOf(tenant);
    const request = { room: 'lobby', metadata: 'mine', idempotencyKey: 'k' };
    const first = await createBytes(of, request);
    expect(await createBytes(of, request)).toBe(first);
    await of.call(endRoom, { room: 'lobby' });
    expect(await createBytes(of, request)).toBe(first);
    expect(await eventTypesOf(tenant)).toStrictEqual(['room_created', 'room_ended']);
  });

  test('gets the first answer on another service too', async () => {
    const tenant = await app.signUp();
    const { service } = await app.another();
    const request = { room: 'lobby', idempotencyKey: 'k' };
    const first = await createBytes(controlOf(tenant), request);
    expect(await createBytes(control({ port: service.grpcPort }, tenant), request)).toBe(first);
  });

  test('twenty times at once, on two services: one room, twenty equal answers', async () => {
    const { service } = await app.another();
    for (let round = 0; round < 5; round += 1) {
      const tenant = await app.signUp();
      const doors = [controlOf(tenant), control({ port: service.grpcPort }, tenant)];
      const request = { room: 'lobby', idempotencyKey: 'k' };
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, at) => createBytes(doors[at % 2]!, request)),
      );
      expect(new Set(answers).size).toBe(1);
      expect((await doors[0]!.call(listRooms, {})).rooms).toHaveLength(1);
      expect(await eventTypesOf(tenant)).toStrictEqual(['room_created']);
    }
  });

  test.each([
    ['another room', { room: 'stage' }],
    ['other rules', { policy: { locked: true } }],
    ['something else to keep', { metadata: 'else' }],
  ])('with %s is refused', async (_, change) => {
    const of = controlOf(await app.signUp());
    const request = { room: 'lobby', idempotencyKey: 'k' };
    const first = await createBytes(of, request);
    const failure = await failureOf(of.call(createRoom, { ...request, ...change }));
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'IDEMPOTENCY_KEY_REUSED' });
    expect(await createBytes(of, request)).toBe(first);
    expect((await of.call(listRooms, {})).rooms).toHaveLength(1);
  });

  test('for another method is refused, even with an equal request', async () => {
    const of = controlOf(await app.signUp());
    await of.call(createRoom, { room: 'lobby', idempotencyKey: 'k' });
    const failure = await failureOf(of.call(endRoom, { room: 'lobby', idempotencyKey: 'k' }));
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'IDEMPOTENCY_KEY_REUSED' });
  });

  test('of another tenant is a different key', async () => {
    const [one, other] = [controlOf(await app.signUp()), controlOf(await app.signUp())];
    const request = { room: 'lobby', idempotencyKey: 'k' };
    expect(await createBytes(one, request)).not.toBe(await createBytes(other, request));
    await createBytes(other, { room: 'stage', idempotencyKey: 'of the other' });
    await createBytes(one, { room: 'hall', idempotencyKey: 'of the other' });
  });

  test('after a failure does the work: failures are not kept', async () => {
    const of = controlOf(await app.signUp());
    await of.call(createRoom, { room: 'lobby' });
    const request = { room: 'lobby', idempotencyKey: 'k' };
    expect(await failureOf(of.call(createRoom, request))).toMatchObject({ code: 'ALREADY_EXISTS' });
    const other = { room: 'stage', idempotencyKey: 'k' };
    expect((await of.call(createRoom, other)).room!.name).toBe('stage');
  });
});

test.each([
  ['too long', 'k'.repeat(129)],
  ['with a line break', 'a\nb'],
  ['of other letters', 'schlüssel'],
])('a key %s is refused', async (_, idempotencyKey) => {
  const of = controlOf(await app.signUp());
  const failure = await failureOf(of.call(createRoom, { room: 'lobby', idempotencyKey }));
  expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', fields: ['idempotency_key'] });
});

test('answers are encrypted in the database, and none opens with another key', async () => {
  const tenant = await app.signUp();
  const of = controlOf(tenant);
  const { db } = app.service.deps;
  const first = { room: 'a-name-of-a-room', idempotencyKey: 'k1' };
  const second = { room: 'another-room', idempotencyKey: 'k2' };
  await of.call(createRoom, first);
  await of.call(createRoom, second);
  const { rows } = await db.query('select * from idempotency_keys where tenant_id = $1 order by key', [
    parseTenantId(tenant.id),
  ]);
  expect(rows).toHaveLength(2);
  // Random bytes sometimes contain three given letters.
  const plain = /room|rm_[0-9a-f]{4}/;
  for (const { answer, request_hash: hash } of rows) {
    for (const bytes of [answer, hash]) expect((bytes as Buffer).toString('latin1')).not.toMatch(plain);
  }
  await db.query('update idempotency_keys set answer = $3 where tenant_id = $1 and key = $2', [
    parseTenantId(tenant.id),
    'k2',
    rows[0].answer,
  ]);
  expect(await failureOf(of.call(createRoom, second))).toMatchObject({ code: 'INTERNAL' });
});

describe('when the connection to the database is lost', () => {
  let proxy: DatabaseProxy;
  let behind: Service;
  beforeAll(async () => {
    proxy = await openDatabaseProxy(app.config.databaseUrl);
    const config = { ...app.config, databaseUrl: proxy.url, stripeSecretKey: undefined };
    behind = await startService(config, pino({ level: 'silent' }));
  });
  afterAll(async () => {
    proxy.cutAfter(undefined);
    proxy.cutBefore(undefined);
    await behind.stop();
    await proxy.close();
  });

  const SQL_COMMIT = 'commit\0';

  test('after the commit, before the answer: the retry gets the answer', async () => {
    for (let round = 0; round < 5; round += 1) {
      const tenant = await app.signUp();
      const of = control({ port: behind.grpcPort }, tenant);
      const request = { room: 'lobby', idempotencyKey: 'k' };
      proxy.cutAfter(SQL_COMMIT);
      const failure = await failureOf(of.call(createRoom, request));
      proxy.cutAfter(undefined);
      expect(failure).toMatchObject({ code: 'UNAVAILABLE', retryDelaySeconds: 2 });
      expect(await eventTypesOf(tenant)).toStrictEqual(['room_created']);
      const again = await createBytes(of, request);
      expect(await createBytes(controlOf(tenant), request)).toBe(again);
      expect(await eventTypesOf(tenant)).toStrictEqual(['room_created']);
    }
  });

  test('before the commit: the retry does the work', async () => {
    const tenant = await app.signUp();
    const of = control({ port: behind.grpcPort }, tenant);
    const request = { room: 'lobby', idempotencyKey: 'k' };
    proxy.cutBefore(SQL_COMMIT);
    const failure = await failureOf(of.call(createRoom, request));
    proxy.cutBefore(undefined);
    expect(failure).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await eventTypesOf(tenant)).toStrictEqual([]);
    await of.call(createRoom, request);
    expect(await eventTypesOf(tenant)).toStrictEqual(['room_created']);
  });
});
