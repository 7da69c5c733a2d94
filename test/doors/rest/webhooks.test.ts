import { inspect } from 'node:util';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { renderPageToken } from '../../../src/base/lib/page-token.ts';
import { PUBLIC_EVENT_TYPES } from '../../../src/outward/events/event-catalogue.ts';
import { RESENDS_LIMIT } from '../../../src/outward/webhooks/resend-limit.ts';
import { appendCounted, makeWebhook } from '../../outward/webhooks/support.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { expectError, expectOk, NOT_BOOLEANS, NOT_INTEGERS, NOT_STRINGS, setStatus } from './support.ts';

const app = useService({ webhooks: FAST_WEBHOOKS });
const receiver = useReceiver();
let tenant: TestTenant;
let stranger: TestTenant;
let hook: { id: string; secret: string };

beforeAll(async () => {
  [tenant, stranger] = [await app.signUp(), await app.signUp()];
  hook = await makeWebhook(app, tenant, receiver.url('/standing'));
});

const call = (
  method: string,
  path: string,
  options: { key?: string | undefined; body?: unknown; headers?: Record<string, string> } = {},
) => app.request(method, `/v1/webhooks${path}`, { key: tenant.key, ...options });
const UNKNOWN = 'wh_00000000000000000000000000000000';

/** Method, path behind `/v1/webhooks`, and a body that is right. */
const ROUTES: readonly [string, (id: string) => string, unknown?][] = [
  ['GET', () => ''],
  ['POST', () => '', { url: 'https://x.example/' }],
  ['GET', (id) => `/${id}`],
  ['PATCH', (id) => `/${id}`, { description: 'x' }],
  ['DELETE', (id) => `/${id}`],
  ['POST', (id) => `/${id}/rotate`, {}],
  ['POST', (id) => `/${id}/test`],
  ['POST', (id) => `/${id}/resend`, { since: '2026-11-01' }],
  ['GET', (id) => `/${id}/deliveries`],
];

describe.each(ROUTES)('%s /v1/webhooks%s', (method, path, body) => {
  const options = body === undefined ? {} : { body };

  test('401 without a key, with a wrong one, and with a relay key', async () => {
    for (const key of [undefined, `svc_${'0'.repeat(16)}_${'A'.repeat(43)}`, tenant.relayKey]) {
      expectError(await call(method, path(hook.id), { ...options, key }), 401, 'invalid api key');
    }
  });

  test('403 once the tenant is deleted', async () => {
    const gone = await app.signUp();
    await setStatus(app, gone, 'deleted');
    expectError(
      await call(method, path(hook.id), { ...options, key: gone.key }),
      403,
      'tenant is not active',
    );
  });
});

test.each(ROUTES.filter(([, path]) => path('') !== ''))(
  '%s /v1/webhooks%s: 404 for an id of another tenant, of none, and of another form',
  async (method, path, body) => {
    const options = body === undefined ? {} : { body };
    expectError(await call(method, path(hook.id), { ...options, key: stranger.key }), 404, 'not found');
    for (const id of [UNKNOWN, 'x', hook.id.toUpperCase(), `${hook.id}0`, '%00', "'"]) {
      const answer = await call(method, path(id), options);
      expect([400, 404], `${id}: ${answer.text}`).toContain(answer.status);
    }
  },
);

describe('POST /v1/webhooks', () => {
  test('201 with its secrets, which no later answer has', async () => {
    const fresh = await app.signUp();
    const url = 'https://hooks.example/a?b=c';
    const made = expectOk(await call('POST', '', { key: fresh.key, body: { url } }), 201);
    const webhook = {
      id: expect.stringMatching(/^wh_[0-9a-f]{32}$/),
      url,
      types: [],
      rooms: [],
      description: '',
      header_names: [],
      has_basic_auth: false,
      order: 'tenant',
      max_in_flight: 10,
      format: 'boxoffice',
      max_batch: 1,
      state: 'active',
      delivered_seq: 0,
      waiting: 0,
      given_up: 0,
      failures: 0,
      public_keys: [expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/)],
      created_at: expect.stringMatching(TIMESTAMP),
    };
    expect(made).toStrictEqual({
      webhook,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      public_key: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/),
    });
    const { id } = made.webhook;
    expect(expectOk(await call('GET', '', { key: fresh.key }))).toStrictEqual({ webhooks: [webhook] });
    expect(expectOk(await call('GET', `/${id}`, { key: fresh.key }))).toStrictEqual(webhook);
    const { rows } = await app.service.deps.db.query(
      'select sealed from webhook_secrets where webhook_id = $1',
      [id],
    );
    expect(rows[0].sealed.includes(Buffer.from(made.secret.slice(6), 'base64'))).toBe(false);
  });

  test.each([
    [{}, 'url is required'],
    [{ url: '' }, 'url must not be empty'],
    [
      { url: 'https://x.example/', types: ['nothing'] },
      `types/0 must be one of ${PUBLIC_EVENT_TYPES.join(', ')}`,
    ],
    [
      { url: 'https://x.example/', types: ['webhook_test'] },
      `types/0 must be one of ${PUBLIC_EVENT_TYPES.join(', ')}`,
    ],
    [{ url: 'https://x.example/', types: 'balance_low' }, 'types must be array'],
    [
      { url: 'https://x.example/', types: ['moderation', 'moderation'] },
      'types must not have duplicate items',
    ],
    [
      { url: 'https://x.example/', description: 'x'.repeat(201) },
      'description must not have more than 200 characters',
    ],
    ...['a\u0007b', 'a\nb', 'a\u2028b', 'a\u202eb', 'a\u2066b'].map(
      (description) =>
        [
          { url: 'https://x.example/', description },
          'description must be one line of up to 200 characters, without marks of direction',
        ] as [object, string],
    ),
    [
      { url: 'https://x.example/', rooms: ['*a'] },
      'rooms/0 must match pattern "^(?:\\*|[A-Za-z0-9][A-Za-z0-9._-]{0,127}\\*?)$"',
    ],
    [
      { url: 'https://x.example/', rooms: ['a b'] },
      'rooms/0 must match pattern "^(?:\\*|[A-Za-z0-9][A-Za-z0-9._-]{0,127}\\*?)$"',
    ],
    [
      {
        url: 'https://x.example/',
        rooms: Array(21)
          .fill('a')
          .map((each, at) => each + at),
      },
      'rooms must not have more than 20 items',
    ],
    [{ url: 'https://x.example/', secret: 'mine' }, 'secret is not a known field'],
    [{ url: 'https://x.example/', paused: true }, 'paused is not a known field'],
    [{ url: 'https://x.example/', order: 'random' }, 'order must be one of tenant, room, none'],
    [{ url: 'https://x.example/', order: null }, 'order must be string'],
    [{ url: 'http://x.example.org:99999/' }, 'url must be a URL such as https://x.example/hook'],
    [{ url: 'https://10.0.0.1/' }, 'url must be on the public internet: 10.0.0.1 is a private address'],
  ])('400 for %j', async (body, what) => {
    expectError(await call('POST', '', { body }), 400, `invalid request: ${what}`);
  });

  test('201 with rooms, which a change replaces', async () => {
    const fresh = await app.signUp();
    const body = { url: 'https://x.example/', rooms: ['lobby', 'demo-*'] };
    const { webhook } = expectOk(await call('POST', '', { key: fresh.key, body }), 201);
    expect(webhook.rooms).toEqual(['lobby', 'demo-*']);
    const changed = await call('PATCH', `/${webhook.id}`, { key: fresh.key, body: { rooms: [] } });
    expect(expectOk(changed).rooms).toEqual([]);
  });

  test('201 with an order and limits', async () => {
    const flow = { order: 'room', max_in_flight: 20, max_per_second: 1_000 };
    const wanted = { ...flow, format: 'cloudevents', max_batch: 100 };
    const made = expectOk(await call('POST', '', { body: { url: 'https://x.example/', ...wanted } }), 201);
    expect(made.webhook).toMatchObject(wanted);
    expectOk(await call('DELETE', `/${made.webhook.id}`), 204);
  });

  test.each([
    ['max_in_flight', 0],
    ['max_in_flight', 21],
    ['max_in_flight', 1.5],
    ['max_in_flight', '5'],
    ['max_per_second', -1],
    ['max_per_second', 1_001],
    ['max_per_second', null],
    ['max_batch', 0],
    ['max_batch', 101],
    ['format', 'xml'],
  ])('400 for %s %j', async (name, value) => {
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${hook.id}`],
    ] as const) {
      const body = { ...(method === 'POST' && { url: 'https://x.example/' }), [name]: value };
      const answer = await call(method, path, { body });
      expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(name)]);
    }
  });

  test.each(NOT_STRINGS)('400 for the url %j', async (url) => {
    expectError(await call('POST', '', { body: { url } }), 400, 'invalid request: url must be string');
  });

  test('409 beyond twenty, also for creations at the same time', async () => {
    const fresh = await app.signUp();
    const made = await Promise.all(
      Array.from({ length: 25 }, () =>
        call('POST', '', { key: fresh.key, body: { url: 'https://x.example/' } }),
      ),
    );
    expect(made.filter(({ status }) => status === 201)).toHaveLength(20);
    for (const answer of made.filter(({ status }) => status !== 201)) {
      expectError(answer, 409, 'limit reached: at most 20 webhooks');
    }
    expect(expectOk(await call('GET', '', { key: fresh.key })).webhooks).toHaveLength(20);
  });

  test('with an Idempotency-Key, a repetition gets the same webhook and secret', async () => {
    const fresh = await app.signUp();
    const create = () =>
      call('POST', '', {
        key: fresh.key,
        body: { url: 'https://x.example/' },
        headers: { 'idempotency-key': 'one' },
      });
    const [first, second] = [await create(), await create()];
    expect(second.text).toBe(first.text);
    expect(expectOk(await call('GET', '', { key: fresh.key })).webhooks).toHaveLength(1);
  });
});

describe('PATCH /v1/webhooks/{id}', () => {
  test('changes what is given', async () => {
    const { id } = await makeWebhook(app, tenant, 'https://x.example/', {
      description: 'one',
      types: ['moderation'],
    });
    const changed = expectOk(await call('PATCH', `/${id}`, { body: { types: [], description: 'two' } }));
    expect(changed).toMatchObject({
      url: 'https://x.example/',
      types: [],
      description: 'two',
      state: 'active',
    });
    const paused = expectOk(await call('PATCH', `/${id}`, { body: { paused: true } }));
    expect(paused).toMatchObject({
      state: 'paused',
      paused_by: 'tenant',
      paused_at: expect.stringMatching(TIMESTAMP),
    });
    expect(expectOk(await call('PATCH', `/${id}`, { body: {} }))).toEqual(paused);
    expect(expectOk(await call('PATCH', `/${id}`, { body: { paused: false } }))).toEqual(changed);
    expectOk(await call('DELETE', `/${id}`), 204);
    expectError(await call('GET', `/${id}`), 404, 'not found');
  });

  test('refuses a description with marks of direction, and leaves one of before that as it is', async () => {
    const { id } = await makeWebhook(app, tenant, 'https://x.example/');
    const refused = await call('PATCH', `/${id}`, { body: { description: 'a\u202eb' } });
    expect([refused.status, refused.headers.get('invalid-field')]).toEqual([400, 'description']);
    const { db } = app.service.deps;
    await db.query('update webhook_endpoints set description = $2 where id = $1', [id, 'a\u202eb']);
    const body = { types: ['moderation'] };
    expect(expectOk(await call('PATCH', `/${id}`, { body })).description).toBe('a\u202eb');
  });

  test('changes the order and the limits, and takes a limit away', async () => {
    const { id } = await makeWebhook(app, tenant, 'https://x.example/', { max_per_second: 5 });
    const change = async (body: object) => expectOk(await call('PATCH', `/${id}`, { body }));
    expect(await change({ order: 'none' })).toMatchObject({
      order: 'none',
      max_in_flight: 10,
      max_per_second: 5,
    });
    expect(await change({ max_in_flight: 3 })).toMatchObject({ order: 'none', max_in_flight: 3 });
    expect(await change({ max_per_second: 0 })).not.toHaveProperty('max_per_second');
    expect(await change({ max_batch: 7 })).toMatchObject({ format: 'boxoffice', max_batch: 7 });
    expect(await change({ format: 'cloudevents' })).toMatchObject({ format: 'cloudevents', max_batch: 7 });
    expectOk(await call('DELETE', `/${id}`), 204);
  });

  test.each(NOT_BOOLEANS)('400 for paused %j', async (paused) => {
    expectError(
      await call('PATCH', `/${hook.id}`, { body: { paused } }),
      400,
      'invalid request: paused must be boolean',
    );
  });

  test.each([
    [{ url: 'https://user:word@x.example/' }, 'url must have no user name or password'],
    [{ url: 'ftp://x.example/' }, 'url must be a URL such as https://x.example/hook'],
    [{ id: 'x' }, 'id is not a known field'],
  ])('400 for %j', async (body, what) => {
    expectError(await call('PATCH', `/${hook.id}`, { body }), 400, `invalid request: ${what}`);
  });
});

describe('POST /v1/webhooks/{id}/rotate', () => {
  test('201 with another secret', async () => {
    const { id, secret } = await makeWebhook(app, tenant, 'https://x.example/');
    const rotated = expectOk(await call('POST', `/${id}/rotate`), 201);
    expect(rotated.secret).not.toBe(secret);
    expect(Object.keys(rotated)).toEqual(['webhook', 'secret', 'public_key', 'old_secret_retires']);
    expect(Date.parse(rotated.old_secret_retires) - Date.now()).toBeGreaterThan(86_000_000);
  });

  test('the public keys of all secrets that sign can be read again, the newest first', async () => {
    const { id, public_key } = await makeWebhook(app, tenant, 'https://x.example/');
    const shown = async () => (await call('GET', `/${id}`)).json.public_keys;
    expect(await shown()).toEqual([public_key]);
    const rotated = expectOk(await call('POST', `/${id}/rotate`), 201);
    expect(rotated.webhook.public_keys).toEqual([rotated.public_key, public_key]);
    expect(await shown()).toEqual([rotated.public_key, public_key]);
    const listed = (await call('GET', '')).json.webhooks.find((each: { id: string }) => each.id === id);
    expect(listed.public_keys).toEqual([rotated.public_key, public_key]);
    // A secret that SECRETS_KEY does not open signs nothing.
    const { db } = app.service.deps;
    await db.query(`update webhook_secrets set sealed = '\\x00' where webhook_id = $1 and number = 1`, [id]);
    expect(await shown()).toEqual([rotated.public_key]);
  });

  test('409 beyond four secrets that sign; without an overlap it always works', async () => {
    const { id } = await makeWebhook(app, tenant, 'https://x.example/');
    const rotate = (overlap_seconds: number) => call('POST', `/${id}/rotate`, { body: { overlap_seconds } });
    for (let secrets = 2; secrets <= 4; secrets += 1) expectOk(await rotate(60), 201);
    expectError(
      await rotate(60),
      409,
      'limit reached: at most 4 secrets that sign; overlap_seconds 0 retires the old ones at once',
    );
    expectOk(await rotate(0), 201);
    expectOk(await rotate(60), 201);
  });

  test.each([...NOT_INTEGERS, [-1], [604_801]])('400 for overlap_seconds %j', async (overlap_seconds) => {
    const answer = await call('POST', `/${hook.id}/rotate`, { body: { overlap_seconds } });
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatch(/^invalid request: overlap_seconds must be (integer|>= 0|<= 604800)$/);
  });
});

describe('POST /v1/webhooks/{id}/test', () => {
  test('200 with what became of it, also while it is paused', async () => {
    const { id } = await makeWebhook(app, tenant, receiver.url('/tested'));
    await call('PATCH', `/${id}`, { body: { paused: true } });
    const { delivery } = expectOk(await call('POST', `/${id}/test`));
    expect(delivery).toMatchObject({
      kind: 'test',
      type: 'webhook_test',
      attempt: 1,
      delivered: true,
      gave_up: false,
      status: 204,
    });
    const [received] = receiver.received('/tested');
    expect(received!.event).toMatchObject({ id: delivery.event_id, seq: 0, type: 'webhook_test' });
    receiver.answer('/tested', () => 418);
    const refused = expectOk(await call('POST', `/${id}/test`)).delivery;
    expect(refused).toMatchObject({ delivered: false, status: 418, answer: 'status 418' });
    const { deliveries } = expectOk(await call('GET', `/${id}/deliveries`));
    expect(deliveries).toEqual([refused, delivery]);
  });

  test('a receiver that cannot be reached is no error of the request', async () => {
    const { id } = await makeWebhook(app, tenant, 'http://127.0.0.1:1/');
    const { delivery } = expectOk(await call('POST', `/${id}/test`));
    expect(delivery).toMatchObject({ delivered: false, error: expect.any(String) });
    expect(delivery).not.toHaveProperty('status');
  });

  test('with an Idempotency-Key, it is sent once', async () => {
    const { id } = await makeWebhook(app, tenant, receiver.url('/once'));
    const send = () =>
      call('POST', `/${id}/test`, { headers: { 'idempotency-key': `of ${id}`.replace(' ', '-') } });
    const [first, second] = [await send(), await send()];
    expect(second.text).toBe(first.text);
    expect(receiver.received('/once')).toHaveLength(1);
  });
});

describe('POST /v1/webhooks/{id}/resend', () => {
  test('sends one event again, with the same id, whatever its types', async () => {
    const fresh = await app.signUp();
    const { id } = await makeWebhook(app, fresh, receiver.url('/again'), { types: ['moderation'] });
    await appendCounted(app, fresh, 2);
    const resent = expectOk(await call('POST', `/${id}/resend`, { key: fresh.key, body: { seq: 2 } }));
    expect(resent.delivery).toMatchObject({ kind: 'resend', seq: 2, type: 'credit_spent', delivered: true });
    const { events } = expectOk(await app.request('GET', '/v1/events?after=1', { key: fresh.key }));
    expect(receiver.received('/again').map(({ event }) => event)).toEqual(events);
  });

  test.each([
    [{}, 'exactly one of seq and since must be given'],
    [{ seq: 1, since: '2026-11-01' }, 'exactly one of seq and since must be given'],
    [{ seq: 0 }, 'seq must be >= 1'],
    [{ seq: '1' }, 'seq must be integer'],
    [{ seq: 1.5 }, 'seq must be integer'],
    [{ seq: 1_000_000 }, 'seq must be the number of an event that is kept'],
    [{ since: 'yesterday' }, 'since must be a day or a time such as 2026-11-01T00:00:00Z'],
    [{ since: '2026-02-30' }, 'since must be a day or a time such as 2026-11-01T00:00:00Z'],
    [{ since: 5 }, 'since must be string'],
    [{ until: 5 }, 'until is not a known field'],
  ])('400 for %j', async (body, what) => {
    expectError(await call('POST', `/${hook.id}/resend`, { body }), 400, `invalid request: ${what}`);
  });
});

test('a tenant that never paid sends again since a time so often an hour', async () => {
  const of = await app.signUp();
  const { id } = await makeWebhook(app, of, receiver.url('/often'));
  const ask = (body: object) => app.request('POST', `/v1/webhooks/${id}/resend`, { key: of.key, body });
  const bodies = [{ since: '2026-01-01' }, { since: '2026-01-01', only_failed: true }];
  for (let times = 0; times < RESENDS_LIMIT.pending; times += 1)
    expectOk(await ask(bodies[times % bodies.length]!));
  for (const body of bodies) {
    const refused = await ask(body);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 3_500]).toEqual([429, true]);
  }
});

describe('GET /v1/webhooks/{id}/deliveries', () => {
  test('newest first, a page at a time', async () => {
    const fresh = await app.signUp();
    const { id } = await makeWebhook(app, fresh, receiver.url('/pages'));
    await appendCounted(app, fresh, 5);
    await vi.waitFor(() => expect(receiver.received('/pages')).toHaveLength(5), { timeout: 60_000 });
    const page = async (query: string) =>
      expectOk(await call('GET', `/${id}/deliveries${query}`, { key: fresh.key }));
    await vi.waitFor(async () => expect((await page('')).deliveries).toHaveLength(5), { timeout: 60_000 });
    const first = await page('?limit=3');
    const second = await page(`?limit=3&cursor=${first.next_cursor}`);
    const seqs = [first, second].map(({ deliveries }) => deliveries.map(({ seq }: { seq: number }) => seq));
    expect(seqs).toEqual([
      [5, 4, 3],
      [2, 1],
    ]);
    expect(second).not.toHaveProperty('next_cursor');
  });

  test('400 for a cursor of another webhook, and for a forged one', async () => {
    const cursors = [
      renderPageToken([UNKNOWN, '1']),
      renderPageToken([hook.id, '0']),
      renderPageToken([hook.id, '-1']),
      renderPageToken([hook.id, '1', '2']),
      renderPageToken([hook.id]),
      renderPageToken([hook.id, "1' or true"]),
      'x',
      '',
    ];
    for (const cursor of cursors) {
      expectError(
        await call('GET', `/${hook.id}/deliveries?cursor=${encodeURIComponent(cursor)}`),
        400,
        'invalid request: cursor must be one that an answer gave',
      );
    }
  });

  test.each(['0', '501', '1e2', '-1', ''])('400 for limit %j', async (limit) => {
    expect((await call('GET', `/${hook.id}/deliveries?limit=${limit}`)).status).toBe(400);
  });
});

test('the audit trail tells of each change, and of no secret', async () => {
  const fresh = await app.signUp();
  const { id, secret } = await makeWebhook(app, fresh, 'https://x.example/very-secret-path');
  const own = (method: string, path: string, body?: unknown) => call(method, path, { key: fresh.key, body });
  await own('PATCH', `/${id}`, { url: 'https://x.example/other' });
  await own('PATCH', `/${id}`, { paused: true });
  await own('PATCH', `/${id}`, { paused: false });
  await own('POST', `/${id}/rotate`, {});
  await own('DELETE', `/${id}`);
  const { rows } = await app.service.deps.db.query(
    'select * from audit_entries where tenant_id = $1 and subject = $2 order by at, id',
    [idOf(fresh), id],
  );
  expect(rows.map(({ action }) => action).sort()).toEqual(
    [
      'webhook_created',
      'webhook_changed',
      'webhook_paused',
      'webhook_resumed',
      'webhook_rotated',
      'webhook_deleted',
    ].sort(),
  );
  expect(new Set(rows.map(({ actor_id }) => actor_id))).toEqual(new Set([fresh.keyId]));
  const text = inspect(rows, { depth: 9 });
  for (const hidden of [secret.slice(6), 'very-secret-path']) expect(text).not.toContain(hidden);
});
