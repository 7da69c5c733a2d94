/** Writes that are sent more than once with one `Idempotency-Key`. */
import { RoomService } from '@boxoffice/contract/room_service';
import { describe, expect, test } from 'vitest';
import { changeCeiling } from '../../../src/access/keys/change-ceiling.ts';
import { DEFAULT_CEILING } from '../../../src/access/rights/key-ceiling.ts';
import { sweep } from '../../../src/run/sweep.ts';
import { useControl } from '../../support/grpc.ts';
import { type Answer, ask, type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, makeKey, OPERATOR } from '../../support/tenants.ts';
import { expectCommonHeaders, expectError, expectOk, rawRequest, sendBytes } from './support.ts';

const app = useService({ isRestricted: true });
const controlOf = useControl(app);

let opened: ReturnType<typeof app.another> | undefined;
/** A second service, which all tests of the file share. */
const secondService = () => {
  opened ??= app.another();
  return opened;
};

const REUSED = 'invalid request: Idempotency-Key was used for another request';
const MALFORMED = 'invalid request: Idempotency-Key must be 1 to 255 visible ASCII characters';

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

interface Case {
  readonly status: number;
  /** The request, and another one of the same route. */
  readonly requests: (tenant: TestTenant) => Promise<readonly [Write, Write]>;
  /** SQL that counts the effects of a request: `$1` is the tenant. */
  readonly effects: string;
}

const newKey = async ({ key }: TestTenant) =>
  expectOk(await app.request('POST', '/v1/keys', { key, body: { name: 'old' } }), 201).key.id;
const newCredential = async ({ key }: TestTenant) => {
  const body = { name: 'old', publish: ['audio'] };
  return expectOk(await app.request('POST', '/v1/device-credentials', { key, body }), 201).device_credential
    .id;
};

const newWebhook = async ({ key }: TestTenant) => {
  const body = { url: 'http://127.0.0.1:1/', types: ['watchdog_warned'] };
  return expectOk(await app.request('POST', '/v1/webhooks', { key, body }), 201).webhook.id;
};

const CASES: Readonly<Record<string, Case>> = {
  'POST /v1/keys': {
    status: 201,
    requests: async () => [
      { method: 'POST', path: '/v1/keys', body: { name: 'one' } },
      { method: 'POST', path: '/v1/keys', body: { name: 'two' } },
    ],
    effects: 'select count(*) from api_keys where tenant_id = $1',
  },
  'DELETE /v1/keys/{id}': {
    status: 204,
    requests: async (tenant) => [
      { method: 'DELETE', path: `/v1/keys/${await newKey(tenant)}` },
      { method: 'DELETE', path: `/v1/keys/${await newKey(tenant)}` },
    ],
    effects: 'select count(*) from api_keys where tenant_id = $1 and revoked_at is not null',
  },
  'POST /v1/keys/{id}/rotate': {
    status: 201,
    requests: async (tenant) => {
      const path = `/v1/keys/${await newKey(tenant)}/rotate`;
      return [
        { method: 'POST', path },
        { method: 'POST', path, body: { overlap_seconds: 60 } },
      ];
    },
    effects: 'select count(*) from api_keys where tenant_id = $1',
  },
  'POST /v1/device-credentials': {
    status: 201,
    requests: async () => [
      { method: 'POST', path: '/v1/device-credentials', body: { name: 'one', publish: ['audio'] } },
      { method: 'POST', path: '/v1/device-credentials', body: { name: 'one', publish: [] } },
    ],
    effects: 'select count(*) from device_credentials where tenant_id = $1',
  },
  'DELETE /v1/device-credentials/{id}': {
    status: 204,
    requests: async (tenant) => [
      { method: 'DELETE', path: `/v1/device-credentials/${await newCredential(tenant)}` },
      { method: 'DELETE', path: `/v1/device-credentials/${await newCredential(tenant)}` },
    ],
    effects: 'select count(*) from device_credentials where tenant_id = $1 and revoked_at is not null',
  },
  'POST /v1/device-credentials/{id}/rotate': {
    status: 201,
    requests: async (tenant) => {
      const path = `/v1/device-credentials/${await newCredential(tenant)}/rotate`;
      return [
        { method: 'POST', path, body: {} },
        { method: 'POST', path, body: { overlap_seconds: 60 } },
      ];
    },
    effects: 'select count(*) from device_credentials where tenant_id = $1',
  },
  'POST /v1/billing/checkout': {
    status: 200,
    requests: async () => [
      { method: 'POST', path: '/v1/billing/checkout', body: { amount_cents: 1000 } },
      { method: 'POST', path: '/v1/billing/checkout', body: { amount_cents: 1001 } },
    ],
    effects: 'select count(*) from checkouts where tenant_id = $1',
  },
  'PUT /v1/billing/auto-top-up': {
    status: 200,
    requests: async () => [
      { method: 'PUT', path: '/v1/billing/auto-top-up', body: { enabled: false, below_cents: 1 } },
      { method: 'PUT', path: '/v1/billing/auto-top-up', body: { enabled: false, below_cents: 2 } },
    ],
    effects: 'select count(*) from payment_settings where tenant_id = $1 and top_up_below = 10000',
  },
  'PUT /v1/billing/details': {
    status: 200,
    requests: async () => [
      { method: 'PUT', path: '/v1/billing/details', body: { name: 'Ada Video GmbH' } },
      { method: 'PUT', path: '/v1/billing/details', body: { tax_id: 'DE1' } },
    ],
    effects: 'select count(*) from billing_details where tenant_id = $1',
  },
  'PUT /v1/billing/time-zone': {
    status: 200,
    requests: async () => [
      { method: 'PUT', path: '/v1/billing/time-zone', body: { time_zone: 'Europe/Berlin' } },
      { method: 'PUT', path: '/v1/billing/time-zone', body: { time_zone: 'Asia/Tokyo' } },
    ],
    effects: 'select count(*) from time_zones where tenant_id = $1',
  },
  'PUT /v1/mail': {
    status: 200,
    requests: async () => [
      { method: 'PUT', path: '/v1/mail', body: { addresses: [], alerts: true, receipts: false } },
      { method: 'PUT', path: '/v1/mail', body: { addresses: [], alerts: false, receipts: false } },
    ],
    effects: `select count(*) from audit_entries where tenant_id = $1 and action = 'mail_settings_changed'`,
  },
  'POST /v1/webhooks': {
    status: 201,
    requests: async () => [
      { method: 'POST', path: '/v1/webhooks', body: { url: 'https://x.example/1' } },
      { method: 'POST', path: '/v1/webhooks', body: { url: 'https://x.example/2' } },
    ],
    effects: 'select count(*) from webhook_endpoints where tenant_id = $1',
  },
  'PATCH /v1/webhooks/{id}': {
    status: 200,
    requests: async (tenant) => {
      const path = `/v1/webhooks/${await newWebhook(tenant)}`;
      return [
        { method: 'PATCH', path, body: { description: 'one' } },
        { method: 'PATCH', path, body: { description: 'two' } },
      ];
    },
    effects: `select count(*) from audit_entries where tenant_id = $1 and action = 'webhook_changed'`,
  },
  'DELETE /v1/webhooks/{id}': {
    status: 204,
    requests: async (tenant) => [
      { method: 'DELETE', path: `/v1/webhooks/${await newWebhook(tenant)}` },
      { method: 'DELETE', path: `/v1/webhooks/${await newWebhook(tenant)}` },
    ],
    effects: `select count(*) from audit_entries where tenant_id = $1 and action = 'webhook_deleted'`,
  },
  'POST /v1/webhooks/{id}/rotate': {
    status: 201,
    requests: async (tenant) => {
      const path = `/v1/webhooks/${await newWebhook(tenant)}/rotate`;
      return [
        { method: 'POST', path },
        { method: 'POST', path, body: { overlap_seconds: 60 } },
      ];
    },
    effects: 'select count(*) from webhook_secrets where tenant_id = $1',
  },
  'POST /v1/webhooks/{id}/test': {
    status: 200,
    requests: async (tenant) => [
      { method: 'POST', path: `/v1/webhooks/${await newWebhook(tenant)}/test` },
      { method: 'POST', path: `/v1/webhooks/${await newWebhook(tenant)}/test` },
    ],
    effects: `select count(*) from webhook_deliveries where tenant_id = $1 and kind = 'test'`,
  },
  'POST /v1/webhooks/{id}/resend': {
    status: 200,
    requests: async (tenant) => {
      const path = `/v1/webhooks/${await newWebhook(tenant)}/resend`;
      await newKey(tenant);
      return [
        { method: 'POST', path, body: { seq: 1 } },
        { method: 'POST', path, body: { seq: 2 } },
      ];
    },
    effects: `select count(*) from webhook_deliveries where tenant_id = $1 and kind = 'resend'`,
  },
  'PUT /v1/alerts': {
    status: 200,
    requests: async () => [
      { method: 'PUT', path: '/v1/alerts', body: { thresholds: [{ kind: 'balance', below_micros: 1 }] } },
      { method: 'PUT', path: '/v1/alerts', body: { thresholds: [{ kind: 'balance', below_micros: 2 }] } },
    ],
    effects: 'select count(*) from alert_thresholds where tenant_id = $1 and below = 1',
  },
  'PUT /v1/budgets/{id}': {
    status: 200,
    requests: async () => [
      { method: 'PUT', path: '/v1/budgets/all', body: { period: 'day', limit_micros: 1, hard: false } },
      { method: 'PUT', path: '/v1/budgets/all', body: { period: 'day', limit_micros: 2, hard: false } },
    ],
    effects: 'select count(*) from budgets where tenant_id = $1 and max = 1',
  },
  'DELETE /v1/budgets/{id}': {
    status: 204,
    requests: async (tenant) => {
      const body = { period: 'day', limit_micros: 1, hard: false };
      for (const id of ['one', 'two'])
        await app.request('PUT', `/v1/budgets/${id}`, { key: tenant.key, body });
      return [
        { method: 'DELETE', path: '/v1/budgets/one' },
        { method: 'DELETE', path: '/v1/budgets/two' },
      ];
    },
    effects: `select count(*) from audit_entries where tenant_id = $1 and action = 'budget_deleted'`,
  },
  'POST /v1/participants/erase': {
    status: 202,
    requests: async () => [
      { method: 'POST', path: '/v1/participants/erase', body: { participant: 'ann' } },
      { method: 'POST', path: '/v1/participants/erase', body: { participant: 'bob' } },
    ],
    effects: 'select count(*) from erasures where tenant_id = $1',
  },
};

const send = (tenant: TestTenant, { method, path, body }: Write, key?: string, url = app.url) =>
  ask(url + path, method, {
    key: tenant.key,
    body,
    headers: key === undefined ? {} : { 'idempotency-key': key },
  });

async function count(sql: string, tenant: TestTenant): Promise<number> {
  const { rows } = await app.service.deps.db.query(sql, [idOf(tenant)]);
  return Number(rows[0].count);
}

const createKey = (tenant: TestTenant, key: string, { name = 'one', url = app.url } = {}) =>
  send(tenant, { method: 'POST', path: '/v1/keys', body: { name } }, key, url);

/** The sessions of a tenant's checkouts at the provider. */
async function sessionsOf(tenant: TestTenant): Promise<string[]> {
  const { data } = await app.stripe.checkout.sessions.list({ limit: 100 });
  return data.filter(({ client_reference_id: of }) => of === tenant.id).map(({ id }) => id);
}

test('every write of a tenant with a key is tested, and described', async () => {
  const { paths } = (await app.request('GET', '/openapi.json')).json;
  const withHeader = Object.entries<Record<string, { parameters?: { name: string; in: string }[] }>>(
    paths,
  ).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { parameters = [] }]) =>
        parameters.some((each) => each.in === 'header' && each.name === 'Idempotency-Key'),
      )
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  expect(withHeader.sort()).toStrictEqual([...Object.keys(CASES), 'POST /v1/billing/portal'].sort());
});

describe.each(Object.entries(CASES))('%s', (_, { status, requests, effects }) => {
  test('again gets the same status and body, and has one effect', async () => {
    const tenant = await app.signUp();
    const [request] = await requests(tenant);
    const before = await count(effects, tenant);
    const first = await send(tenant, request, 'k');
    expectOk(first, status);
    const again = [await send(tenant, request, 'k'), await send(tenant, request, '"k"')];
    const { url } = await secondService();
    again.push(await send(tenant, request, 'k', url));
    for (const each of again) {
      expectOk(each, status);
      expect(each.text).toBe(first.text);
    }
    expect((await count(effects, tenant)) - before).toBe(1);
  });

  test('twenty times at once, on two services: one effect, and equal answers', async () => {
    const tenant = await app.signUp();
    const { url } = await secondService();
    const [request] = await requests(tenant);
    const before = await count(effects, tenant);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => send(tenant, request, 'k', at % 2 ? url : app.url)),
    );
    for (const each of answers) expectOk(each, status);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await count(effects, tenant)) - before).toBe(1);
  });

  test('for another request is 422, and changes nothing', async () => {
    const tenant = await app.signUp();
    const [request, other] = await requests(tenant);
    const first = await send(tenant, request, 'k');
    const before = await count(effects, tenant);
    expectError(await send(tenant, other, 'k'), 422, REUSED);
    expect(await count(effects, tenant)).toBe(before);
    expect((await send(tenant, request, 'k')).text).toBe(first.text);
    expect((await send(tenant, other, 'k2')).status).not.toBe(422);
  });

  test('by an API key with another ceiling is 422, and shows nothing', async () => {
    const tenant = await app.signUp();
    const [request] = await requests(tenant);
    const first = await send(tenant, request, 'k');
    for (const ceiling of [{ rooms: ['lobby'] }, { rank: 99 }]) {
      const { plaintext: key } = await makeKey(app.service.deps.db, idOf(tenant), 'backend', {
        ...DEFAULT_CEILING,
        ...ceiling,
      });
      const before = await count(effects, tenant);
      expectError(await send({ ...tenant, key }, request, 'k'), 422, REUSED);
      expect(await count(effects, tenant)).toBe(before);
    }
    expect((await send(tenant, request, 'k')).text).toBe(first.text);
  });

  test('by an API key that nobody vouches for is 422 if the first one was trusted, and not the other way round', async () => {
    const tenant = await app.signUp();
    const { db } = app.service.deps;
    const [trusted, other] = [
      await makeKey(db, idOf(tenant), 'backend'),
      await makeKey(db, idOf(tenant), 'backend'),
    ];
    const trust = (id: string, trusted: boolean) =>
      db.query('update api_keys set trusted = $2 where id = $1', [id, trusted]);
    await trust(trusted.id, true);
    await trust(other.id, false);
    const [request] = await requests(tenant);
    const by = (key: { plaintext: string }, name: string) =>
      send({ ...tenant, key: key.plaintext }, request, name);
    await by(trusted, 'of-trusted');
    expectError(await by(other, 'of-trusted'), 422, REUSED);
    const first = await by(other, 'of-other');
    expect((await by(trusted, 'of-other')).text).toBe(first.text);
  });

  test('with a key of another route is 422', async () => {
    const tenant = await app.signUp();
    const [request] = await requests(tenant);
    const path = request.path === '/v1/keys' ? '/v1/device-credentials' : '/v1/keys';
    const body = { name: 'one', ...(path === '/v1/keys' ? {} : { publish: [] }) };
    expectOk(await send(tenant, { method: 'POST', path, body }, 'k'), 201);
    const before = await count(effects, tenant);
    expectError(await send(tenant, request, 'k'), 422, REUSED);
    expect(await count(effects, tenant)).toBe(before);
  });
});

describe('a key', () => {
  test('is that of the replacement too, once the API key is rotated, whatever its ceiling', async () => {
    const tenant = await app.signUp();
    const { db } = app.service.deps;
    const low = { ...DEFAULT_CEILING, rooms: ['lobby', 'class-*'], rank: 1 };
    const { id, plaintext: key } = await makeKey(db, idOf(tenant), 'backend', low);
    const first = expectOk(await createKey({ ...tenant, key }, 'k'), 201);
    const rotated = expectOk(await app.request('POST', `/v1/keys/${id}/rotate`, { key }), 201);
    expect(expectOk(await createKey({ ...tenant, key: rotated.api_key }, 'k'), 201)).toEqual(first);
    await changeCeiling(db, OPERATOR, rotated.key.id, { rank: 0 });
    expectError(await createKey({ ...tenant, key: rotated.api_key }, 'k'), 422, REUSED);
  });

  test('of another tenant is a different key', async () => {
    const [one, other] = [await app.signUp(), await app.signUp()];
    const first = expectOk(await createKey(one, 'k'), 201);
    const second = expectOk(await createKey(other, 'k', { name: 'two' }), 201);
    expect(second.api_key).not.toBe(first.api_key);
  });

  test('is the same one for the control plane, and refused there', async () => {
    const tenant = await app.signUp();
    const of = controlOf(tenant);
    await of.call(RoomService.method.createRoom, { room: 'lobby', idempotencyKey: 'k' });
    expectError(await createKey(tenant, 'k'), 422, REUSED);
  });

  test('is forgotten after 24 hours, and not before', async () => {
    const tenant = await app.signUp();
    const old = expectOk(await createKey(tenant, 'old'), 201);
    const young = expectOk(await createKey(tenant, 'young'), 201);
    await app.service.deps.db.query(
      `update idempotency_keys set created_at = now() - case when key = 'old' then interval '24 hours 1 second'
                                                                 else interval '23 hours 59 minutes' end`,
    );
    await sweep(app.service.deps);
    expect(expectOk(await createKey(tenant, 'old'), 201).api_key).not.toBe(old.api_key);
    expect(expectOk(await createKey(tenant, 'young'), 201)).toStrictEqual(young);
  });

  test('of a request that failed can be used again, also for another one', async () => {
    const tenant = await app.signUp();
    const path = '/v1/keys/0123456789abcdef/rotate';
    expectError(await send(tenant, { method: 'POST', path }, 'k'), 404, 'not found');
    const bad = { method: 'POST', path: '/v1/keys', body: { name: '' } };
    expect((await send(tenant, bad, 'k')).status).toBe(400);
    expectOk(await createKey(tenant, 'k'), 201);
  });

  test('shows the plaintext again after the created key was revoked', async () => {
    const tenant = await app.signUp();
    const first = expectOk(await createKey(tenant, 'k'), 201);
    await send(tenant, { method: 'DELETE', path: `/v1/keys/${first.key.id}` });
    expect(expectOk(await createKey(tenant, 'k'), 201)).toStrictEqual(first);
  });

  test('does not matter for equal bodies in another spelling', async () => {
    const tenant = await app.signUp();
    const headers = { 'idempotency-key': 'k' };
    const of = (raw: string) => app.request('POST', '/v1/keys', { key: tenant.key, raw, headers });
    const first = await of('{"name":"one","kind":"relay"}');
    expectOk(first, 201);
    expect((await of('{ "kind": "relay", "name": "\\u006fne" }')).text).toBe(first.text);
  });

  test('belongs to the query of the request too', async () => {
    const tenant = await app.signUp();
    const path = `/v1/keys/${await newKey(tenant)}`;
    expectOk(await send(tenant, { method: 'DELETE', path }, 'k'), 204);
    expectError(
      await send(tenant, { method: 'DELETE', path: `${path}?confirm=stop-service` }, 'k'),
      422,
      REUSED,
    );
  });

  test('lies beside an answer that shows no secret', async () => {
    const tenant = await app.signUp();
    await createKey(tenant, 'k');
    await send(tenant, { method: 'POST', path: '/v1/billing/checkout', body: { amount_cents: 1000 } }, 'c');
    const { rows } = await app.service.deps.db.query(
      'select * from idempotency_keys where tenant_id = $1 order by key',
      [idOf(tenant)],
    );
    expect(rows.map(({ key }) => key)).toStrictEqual(['c', 'k']);
    for (const { answer, request_hash: hash } of rows) {
      for (const bytes of [answer, hash]) {
        expect((bytes as Buffer).toString('latin1')).not.toMatch(/svc_|api_key|cs_test|http|co_[0-9a-f]{4}/);
      }
    }
  });
});

describe('the header', () => {
  test.each([
    ['empty', ''],
    ['of 256 characters', 'k'.repeat(256)],
    ['with a space', 'a b'],
    ['of a quote', '"'],
    ['of empty quotes', '""'],
    ['with a space in quotes', '"a b"'],
    ['without the last quote', '"a'],
    ['with a quote too many', '"a"b"'],
    ['with an escape that is none', '"a\\b"'],
    ['with parameters', '"a";b=1'],
    ['of 256 characters in quotes', `"${'k'.repeat(256)}"`],
    ['of letters beyond ASCII', 'schl\u00fcssel'],
  ])('%s is 400', async (_, value) => {
    const tenant = await app.signUp();
    const before = await count('select count(*) from api_keys where tenant_id = $1', tenant);
    expectError(await raw(tenant, [`idempotency-key: ${value}`]), 400, MALFORMED);
    expect(await count('select count(*) from api_keys where tenant_id = $1', tenant)).toBe(before);
  });

  test.each(['\u0000', '\u0001', '\t\u0007', '\u007f'])(
    'with the control character %j is 400',
    async (character) => {
      const tenant = await app.signUp();
      const answer = await raw(tenant, [`idempotency-key: a${character}b`]);
      expect(answer.status).toBe(400);
      expect(answer.json.error).toMatch(/^invalid request: /);
    },
  );

  test('twice is 400, even with one value', async () => {
    const tenant = await app.signUp();
    const answer = await raw(tenant, ['idempotency-key: k', 'Idempotency-Key: k']);
    expectError(answer, 400, 'invalid request: Idempotency-Key must be sent once');
  });

  test.each([
    ['of one character', '!', '"!"'],
    ['of 255 characters', '~'.repeat(255), `"${'~'.repeat(255)}"`],
    ['with quotes and backslashes', 'a"\\b', '"a\\"\\\\b"'],
  ])('%s is the same key bare and in quotes', async (_, bare, quoted) => {
    const tenant = await app.signUp();
    const first = await raw(tenant, [`idempotency-key: ${bare}`]);
    expectOk(first, 201);
    expect((await raw(tenant, [`IDEMPOTENCY-KEY: ${quoted}`])).text).toBe(first.text);
  });

  test('changes nothing where it has no meaning', async () => {
    const tenant = await app.signUp();
    const records = [usageRecord({ room: 'r', participant: 'p' })];
    const headers = { 'idempotency-key': 'not a key' };
    const usage = () =>
      app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records }, headers });
    expectOk(await usage());
    expect(expectOk(await usage())).toMatchObject({ duplicates: 1 });
    expectOk(await app.request('GET', '/v1/keys', { key: tenant.key, headers }));
    expectOk(await app.request('POST', '/v1/rates/simulate', { key: tenant.key, body: ROOM, headers }));
  });

  test('comes after the key of the caller', async () => {
    const headers = { 'idempotency-key': '' };
    const answer = await app.request('POST', '/v1/keys', { key: 'none', body: { name: 'x' }, headers });
    expectError(answer, 401, 'invalid api key');
  });
});

const ROOM = { participants: [{ role: 'host', tier: 'hd', count: 1, seconds: 60, egress_bytes: 1 }] };

function raw(tenant: TestTenant, headers: readonly string[]): Promise<Answer> {
  const body = '{"name":"one"}';
  const lines = [
    `authorization: Bearer ${tenant.key}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    ...headers,
  ];
  return sendBytes(app.url, Buffer.from(rawRequest('POST /v1/keys HTTP/1.1', lines, body), 'latin1'));
}

describe('a payment page', () => {
  const checkout = (tenant: TestTenant, key = 'k') =>
    send(tenant, { method: 'POST', path: '/v1/billing/checkout', body: { amount_cents: 1000 } }, key);
  const portal = (tenant: TestTenant, key = 'k') =>
    send(tenant, { method: 'POST', path: '/v1/billing/portal' }, key);
  const fault = (effect: 'commit_then_reset' | 'truncate_body' | 'keep_500' | 'slow', count = 1) =>
    app.sandbox.control.fault({ effect, path: '/v1/checkout/sessions', method: 'POST', count, ms: 300 });

  test.each(['commit_then_reset', 'truncate_body'] as const)(
    'that the provider opened and did not tell about (%s) is found by the next request, by any process',
    async (effect) => {
      const tenant = await app.signUp();
      const before = await sessionsOf(tenant);
      fault(effect, 2);
      expect((await checkout(tenant)).status).toBe(502);
      app.sandbox.control.clearFaults();
      const { url } = await secondService();
      const write = { method: 'POST', path: '/v1/billing/checkout', body: { amount_cents: 1000 } };
      const { checkout_url: page } = expectOk(await send(tenant, write, 'k', url));
      expect(expectOk(await checkout(tenant)).checkout_url).toBe(page);
      const opened = (await sessionsOf(tenant)).filter((id) => !before.includes(id));
      expect(opened).toHaveLength(1);
      expect(page).toContain(opened[0]);
    },
  );

  test('that the provider refused to open can be asked for again', async () => {
    const tenant = await app.signUp();
    fault('keep_500');
    expect((await checkout(tenant)).status).toBe(502);
    const { checkout_url: page } = expectOk(await checkout(tenant));
    expect(expectOk(await checkout(tenant)).checkout_url).toBe(page);
    const states = await app.service.deps.db.query(
      'select state from checkouts where tenant_id = $1 and amount = 10000000 order by created_at',
      [idOf(tenant)],
    );
    expect(states.rows.map(({ state }) => state)).toStrictEqual(['failed', 'open']);
  });

  test('that is being opened is waited for', async () => {
    const tenant = await app.signUp();
    const before = await sessionsOf(tenant);
    fault('slow');
    const answers = await Promise.all([checkout(tenant), checkout(tenant)]);
    const pages = answers.map((answer) => expectOk(answer).checkout_url);
    expect(pages[0]).toBe(pages[1]);
    expect((await sessionsOf(tenant)).length - before.length).toBe(1);
  });

  test('that is asked for again does not count, and needs no provider', async () => {
    const tenant = await app.signUp();
    await app.service.deps.db.query(`update tenants set limits = '{"checkouts_per_hour": 2}' where id = $1`, [
      idOf(tenant),
    ]);
    // Signup opened the first of two.
    const first = await checkout(tenant);
    expectOk(first);
    app.sandbox.control.fault({ effect: 'fail_500', count: 1 });
    expect((await checkout(tenant)).text).toBe(first.text);
    app.sandbox.control.clearFaults();
  });

  test('of the portal is the same again', async () => {
    const tenant = await app.paidTenant();
    const first = expectOk(await portal(tenant)).portal_url;
    expect(expectOk(await portal(tenant)).portal_url).toBe(first);
    expect(expectOk(await portal(tenant, 'k2')).portal_url).not.toBe(first);
    expectError(await createKey(tenant, 'k'), 422, REUSED);
  });

  test('of the portal that a tenant does not have yet can be asked for again', async () => {
    const tenant = await app.signUp();
    expect((await portal(tenant)).status).toBe(400);
    await app.pay(tenant);
    expectOk(await portal(tenant));
  });
});

test('a change that was repeated too late changes nothing back', async () => {
  const tenant = await app.signUp();
  const set = (below_cents: number, key: string) =>
    send(
      tenant,
      { method: 'PUT', path: '/v1/billing/auto-top-up', body: { enabled: false, below_cents } },
      key,
    );
  const first = await set(100, 'k1');
  expectOk(await set(200, 'k2'));
  const late = await set(100, 'k1');
  expect(late.text).toBe(first.text);
  expectCommonHeaders(late);
  const { tenant: now } = expectOk(await app.request('GET', '/v1/billing', { key: tenant.key }));
  expect(now.auto_top_up.below.micros).toBe(2_000_000);
});
