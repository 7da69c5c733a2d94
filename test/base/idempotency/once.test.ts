/** Mutations that are sent more than once, through the control plane. */
import {
  type CreateRoomRequest,
  CreateRoomResponseSchema,
  RoomService,
} from '@boxoffice/contract/room_service';
import { TokenService } from '@boxoffice/contract/token_service';
import { toBinary } from '@bufbuild/protobuf';
import type { QueryConfig } from 'pg';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_CEILING } from '../../../src/access/rights/key-ceiling.ts';
import { openPool, type Tx } from '../../../src/base/db/pool.ts';
import { Failure } from '../../../src/base/failure.ts';
import { once } from '../../../src/base/idempotency/once.ts';
import { codeOf } from '../../../src/base/lib/error-code.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { type Service, startService } from '../../../src/run/service.ts';
import { eventsOf } from '../../support/events.ts';
import { control, failureOf, type TestControl, useControl } from '../../support/grpc.ts';
import { openHolder } from '../../support/holder.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, makeKey } from '../../support/tenants.ts';
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

  test('by an API key with another ceiling is refused, and shows no secret', async () => {
    const tenant = await app.signUp();
    const grant = { name: 'tv', idempotencyKey: 'k' };
    const { createDeviceCredential } = TokenService.method;
    const { credential } = await controlOf(tenant).call(createDeviceCredential, grant);
    const low = { ...DEFAULT_CEILING, rooms: ['lobby'] };
    const { plaintext: key } = await makeKey(app.service.deps.db, idOf(tenant), 'backend', low);
    const failure = await failureOf(controlOf({ ...tenant, key }).call(createDeviceCredential, grant));
    expect(failure).toMatchObject({ code: 'INVALID_ARGUMENT', reason: 'IDEMPOTENCY_KEY_REUSED' });
    expect((await controlOf(tenant).call(createDeviceCredential, grant)).credential).toBe(credential);
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

describe('a call with the same key', () => {
  const calls = async () => {
    const { deps } = app.service;
    const { db } = deps;
    const tenant = idOf(await app.signUp());
    const insert = (id: string) => ({
      name: 'insert-effect',
      text: 'insert into effects values ($1)',
      values: [id],
    });
    await db.query('create table if not exists effects (id text)');
    const call = async (key: string, work: (tx: Tx) => Promise<unknown>, answer = 'done') => {
      const mutation = { tenant, key, method: 'a method', rights: '', request: Buffer.from('the same') };
      const answering = async (tx: Tx) => {
        await work(tx);
        return Buffer.from(answer);
      };
      return Buffer.from(await once(deps, mutation, answering)).toString();
    };
    const effects = async (id: string) =>
      (await db.query('select from effects where id = $1', [id])).rowCount;
    return { call, insert, effects, tenant, db };
  };

  test('waits for the one that runs, although their work would not', async () => {
    const { call, insert, effects, tenant } = await calls();
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = call('slow', async (tx) => {
      await tx.query(insert(`slow ${tenant}`));
      begun.resolve();
      await mayEnd.promise;
    });
    await begun.promise;
    let runs = 0;
    const again = call(
      'slow',
      async (tx) => {
        await tx.query(insert(`slow ${tenant}`));
        runs += 1;
      },
      'done again',
    );
    // Another key does not wait.
    expect(await call('quick', (tx) => tx.query(insert(`quick ${tenant}`)))).toBe('done');
    mayEnd.resolve();
    expect(await Promise.all([first, again])).toEqual(['done', 'done']);
    expect(runs).toBe(0);
    expect(await effects(`slow ${tenant}`)).toBe(1);
  });

  test('does the work if the one that runs fails', async () => {
    const { call, insert, effects, tenant } = await calls();
    const [begun, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = call('failing', async (tx) => {
      await tx.query(insert(`failed ${tenant}`));
      begun.resolve();
      await mayEnd.promise;
      throw new Error('changed its mind');
    });
    await begun.promise;
    const again = call('failing', (tx) => tx.query(insert(`done ${tenant}`)), 'done again');
    mayEnd.resolve();
    await expect(first).rejects.toThrow('changed its mind');
    expect(await again).toBe('done again');
    expect([await effects(`failed ${tenant}`), await effects(`done ${tenant}`)]).toEqual([0, 1]);
  });

  test.each<[string, (id: string) => QueryConfig]>([
    [
      'succeeds',
      (id: string) => ({ name: 'insert-effect', text: 'insert into effects values ($1)', values: [id] }),
    ],
    ['fails', () => ({ name: 'divide-by-zero', text: 'select 1 / $1::integer', values: [0] })],
  ])('gets the answer where the first statement of the work now %s', async (_, statement) => {
    const { call, insert, effects, tenant } = await calls();
    expect(await call('k', (tx) => tx.query(insert(`once ${tenant}`)))).toBe('done');
    let isThrough = false;
    const again = call('k', async (tx) => {
      await tx.query(statement(`once ${tenant}`));
      isThrough = true;
    });
    expect(await again).toBe('done');
    expect(isThrough).toBe(false);
    expect(await effects(`once ${tenant}`)).toBe(1);
  });

  test('gets the answer where its work would now be refused before its first statement', async () => {
    const { call, insert, tenant } = await calls();
    const refused = () => Promise.reject(new Failure('ceiling_exceeded'));
    await expect(call('refused', refused)).rejects.toThrow(Failure);
    expect(await call('refused', (tx) => tx.query(insert(`refused ${tenant}`)))).toBe('done');
    expect(await call('refused', refused)).toBe('done');
  });

  test('gets the answer where its work has no statement', async () => {
    const { call } = await calls();
    expect(await call('none', async () => {}, 'first')).toBe('first');
    expect(await call('none', async () => {}, 'second')).toBe('first');
  });

  test('fails if it waits too long, and has no effect', async () => {
    const { call, insert, effects, tenant, db } = await calls();
    const { deps } = app.service;
    const holder = await openHolder(db);
    await holder.query(`select pg_advisory_xact_lock(hashtextextended('held', $1))`, [tenant]);
    const impatient = openPool(app.config.databaseUrl, { max: 1 });
    impatient.on('connect', (client) => void client.query('set lock_timeout = 50'));
    const mutation = {
      tenant,
      key: 'held',
      method: 'a method',
      rights: '',
      request: Buffer.from('the same'),
    };
    const work = async (tx: Tx) => {
      await tx.query(insert(`held ${tenant}`));
      return Buffer.from('done');
    };
    const failure = await once({ ...deps, db: impatient }, mutation, work).catch((error) => error);
    await impatient.end();
    expect(codeOf(failure)).toBe('55P03');
    await holder.release();
    expect(await effects(`held ${tenant}`)).toBe(0);
    expect(await call('held', (tx) => tx.query(insert(`held ${tenant}`)))).toBe('done');
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
