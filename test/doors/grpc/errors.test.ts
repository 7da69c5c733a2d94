/** Every row of the table of errors, end to end: the condition and how it is reported. */
import { Client, credentials } from '@grpc/grpc-js';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nameOf, type Row, readTable, rowsOf, SERVICES } from '../../../scripts/error-table.ts';
import { type Service, startService } from '../../../src/run/service.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../../base/db/proxy.ts';
import { useService } from '../../support/service.ts';
import { type Fields, VALID, WAYS, type Way, waysOf } from './conditions.ts';
import { type Ending, encode, fieldsOf, metadataOf, send, useCalls } from './failing-calls.ts';
import { makeWorld, WATCHDOGS } from './world.ts';

const table = readTable();
const methods = SERVICES.flatMap((service) => service.methods);
const methodOf = (name: string) => methods.find((method) => nameOf(method) === name)!;
const app = useService({ confusableUsernames: 'refuse' });
const calls = useCalls(app);

test('there is a way for every condition of the table, and no other', () => {
  const listed = methods.flatMap((method) => rowsOf(table, method).map((row) => row.condition));
  expect(Object.keys(WAYS).sort()).toStrictEqual([...new Set(listed)].sort());
  expect(Object.keys(VALID)).toStrictEqual(methods.map(nameOf));
  for (const method of methods) {
    for (const { condition } of rowsOf(table, method)) {
      expect([nameOf(method), condition, waysOf(method, condition).length > 0]).toContain(true);
    }
  }
});

describe.each(methods.map((method) => ({ name: nameOf(method), method })))('$name', ({ method }) => {
  test('succeeds if nothing is wrong', async () => {
    const world = await makeWorld(app.service.deps.db);
    expect(await calls.call(method, [], world)).toMatchObject({ code: 'OK', message: '' });
  });

  const cases = rowsOf(table, method).flatMap((row) =>
    waysOf(method, row.condition).map((way) => ({ ...row, what: way.what, row, way })),
  );
  test.each(cases)('$condition ($what): $code $reason', async ({ row, way }) => {
    expectEnding(await calls.call(method, [way]), row);
  });

  const pairs = rowsOf(table, method).flatMap(({ condition }) => {
    const named = (what: string) => waysOf(method, condition).find((way) => way.what === what);
    const [absent, foreign] = [named('absent'), named('foreign')];
    return absent && foreign ? [{ condition, absent, foreign }] : [];
  });
  test.each(pairs)(
    "$condition: another tenant's is as one that does not exist",
    async ({ absent, foreign }) => {
      const [one, other] = [await calls.call(method, [absent]), await calls.call(method, [foreign])];
      expect(withoutId(other)).toStrictEqual(withoutId(one));
    },
  );
});

describe('details', () => {
  const { call } = calls;
  const way = (what: string, fields: Fields): Way => ({ what, fields: () => fields });

  test.each([
    ['RoomService.EndRoom', { room: 'live-over' }, 'rooms/live-over'],
    ['TokenService.MintClientToken', { room: 'live-full' }, 'rooms/live-full'],
    ['WatchdogService.DeleteWatchdog', { id: WATCHDOGS.fired }, `watchdogs/${WATCHDOGS.fired}`],
  ])('%s: the violation is of %j', async (name, fields, subject) => {
    const ending = await call(methodOf(name), [way('over', fields)]);
    expect(ending).toMatchObject({ code: 'FAILED_PRECONDITION', subjects: [subject] });
  });

  test('without credit, the subject is not a room', async () => {
    const ending = await call(methodOf('TokenService.MintClientToken'), [], calls.worlds.spent);
    expect(ending).toMatchObject({ violations: ['NO_CREDIT'], subjects: [''] });
  });

  test.each([
    [
      'WatchdogService.UpdateWatchdog',
      'condition_immutable',
      'the condition empty_for cannot be changed into another one',
    ],
    ['RoomService.UpdateRoomPolicy', 'policy_immutable', 'cannot be changed'],
    ['RoomService.GetRoom', 'room_missing', 'is required'],
    ['TokenService.MintClientToken', 'lifetime_malformed', 'must be 1 to 900 s, in whole seconds'],
  ])('%s %s says what it accepts', async (name, condition, description) => {
    for (const each of waysOf(methodOf(name), condition)) {
      expect(await call(methodOf(name), [each])).toMatchObject({ descriptions: [description] });
    }
  });

  test.each([
    ['RoomService.GetRoom', { room: 'none' }, 'room not found'],
    ['ParticipantService.GetParticipant', { username: 'nobody' }, 'participant not found'],
    ['ModerationService.UnbanSubject', { subject: { case: 'username', value: 'nobody' } }, 'ban not found'],
    ['WatchdogService.GetWatchdog', { id: `wd_${'9'.repeat(32)}` }, 'watchdog not found'],
    ['TokenService.RevokeDeviceCredential', { id: '0'.repeat(16) }, 'device credential not found'],
    ['RoomService.CreateRoom', { room: 'live' }, 'room already exists'],
  ])('%s %j: %s', async (name, fields, message) => {
    expect(await call(methodOf(name), [way('absent', fields)])).toMatchObject({ message });
  });
});

test('a failed call changes nothing', async () => {
  const { rows } = await app.service.deps.db.query(
    `select (select count(*)::integer from rooms where tenant_id = $1) as rooms,
            (select count(*)::integer from rooms where tenant_id = $1 and state = 'LIVE') as live,
            (select count(*)::integer from participants where tenant_id = $1) as participants,
            (select count(*)::integer from moderation_events where tenant_id = $1) as moderation,
            (select count(*)::integer from bans where tenant_id = $1 and lifted_at is null) as bans,
            (select count(*)::integer from watchdogs where tenant_id = $1) as watchdogs,
            (select count(*)::integer from device_credentials where tenant_id = $1) as credentials,
            (select count(*)::integer from idempotency_keys where tenant_id = $1) as keys`,
    [calls.worlds.usual.tenant],
  );
  expect(rows[0]).toStrictEqual({
    rooms: 6,
    live: 5,
    participants: 8,
    moderation: 0,
    bans: 4,
    watchdogs: 3,
    credentials: 4,
    keys: 1,
  });
});

describe('at any moment', () => {
  let proxy: DatabaseProxy;
  let behind: Service;
  let client: Client;

  beforeAll(async () => {
    proxy = await openDatabaseProxy(app.config.databaseUrl);
    const config = { ...app.config, databaseUrl: proxy.url, stripeSecretKey: undefined };
    behind = await startService(config, pino({ level: 'silent' }));
    client = new Client(`127.0.0.1:${behind.grpcPort}`, credentials.createInsecure());
  });
  afterAll(async () => {
    client.close();
    proxy.setOpen(true);
    await behind.stop();
    await proxy.close();
  });

  const callAll = () => {
    const { worlds } = calls;
    return Promise.all(
      methods.map((method) => {
        const bytes = encode(method, fieldsOf(method, [], worlds.usual, worlds));
        return send(client, method, bytes, metadataOf(`Bearer ${worlds.usual.keys.backend}`));
      }),
    );
  };

  test('database unavailable: UNAVAILABLE from every method', async () => {
    proxy.setOpen(false);
    for (const ending of await callAll())
      expectEnding(ending, { code: 'UNAVAILABLE', reason: 'UNAVAILABLE' });
    proxy.setOpen(true);
  });

  test('a fault: INTERNAL from every method, with the request id and nothing else', async () => {
    await app.service.deps.db.query('alter table tenants rename to lost');
    const endings = await callAll();
    await app.service.deps.db.query('alter table lost rename to tenants');
    for (const ending of endings) {
      expectEnding(ending, { code: 'INTERNAL', reason: 'INTERNAL' });
      expect(ending.message).toBe(`internal error: report it with the request id ${ending.requestId}`);
    }
  });
});

function expectEnding(
  ending: Ending,
  row: Pick<Row, 'code' | 'reason'> & { field?: string | undefined },
): void {
  const { code, reason, field } = row;
  expect({ code: ending.code, reason: ending.info?.reason, message: ending.message }).toMatchObject({
    code,
    reason,
    message: expect.stringMatching(/^[^\n]{5,}$/),
  });
  expect(ending.info?.domain).toBe(table.domain);
  expect(ending.requestId).toMatch(/^req_[0-9a-f]{32}$/);
  expect(ending.info?.metadata.request_id).toBe(ending.requestId);
  expect(ending.fields).toStrictEqual(code === 'INVALID_ARGUMENT' ? [field] : []);
  expect(ending.violations).toStrictEqual(code === 'FAILED_PRECONDITION' ? [reason] : []);
  if (code === 'UNAVAILABLE') expect(ending.retryDelayMs).toBeGreaterThan(0);
  else expect(ending.retryDelayMs).toBeUndefined();
  const more = {
    INVALID_ARGUMENT: 'BadRequest',
    FAILED_PRECONDITION: 'PreconditionFailure',
    UNAVAILABLE: 'RetryInfo',
  };
  expect(ending.details).toStrictEqual([
    'ErrorInfo',
    ...(code in more ? [more[code as keyof typeof more]] : []),
  ]);
}

function withoutId({ requestId: _, info, ...ending }: Ending) {
  const { request_id: __, ...metadata } = info!.metadata;
  return { ...ending, reason: info!.reason, metadata };
}
