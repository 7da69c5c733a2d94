/** What all routes have in common: the order of checks, methods, headers, and authentication. */
import { beforeAll, describe, expect, test } from 'vitest';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import { buildRest } from '../../../src/doors/rest/server.ts';
import { openHolder } from '../../support/holder.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import { ask, type RequestOptions, type TestTenant, useService } from '../../support/service.ts';
import { setLimits } from '../../support/tenants.ts';
import { expectCommonHeaders, expectError, expectOk, rawRequest, sendBytes, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;
let other: TestTenant;

beforeAll(async () => {
  // One id in two thousand has no letter, and is the same in upper case.
  do tenant = await app.signUp();
  while (![tenant.keyId, tenant.relayKeyId].every((id) => /[a-f]/.test(id)));
  await setLimits(app.service.deps.db, tenant, { api_keys: 1_000 });
  other = await app.signUp();
});

interface Route {
  readonly method: string;
  readonly path: string;
  readonly auth: 'none' | 'backend' | 'relay' | 'signature';
  readonly body?: unknown;
}

/** All routes of the specification that have bodies, keys or both, each with a valid request. */
const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/v1/rates', auth: 'none' },
  { method: 'POST', path: '/v1/signup', auth: 'none', body: { name: 'Ada', email: 'ada@example.com' } },
  { method: 'GET', path: '/v1/billing', auth: 'backend' },
  { method: 'POST', path: '/v1/billing/checkout', auth: 'backend', body: { amount_cents: 1000 } },
  { method: 'POST', path: '/v1/billing/portal', auth: 'backend' },
  { method: 'PUT', path: '/v1/billing/auto-top-up', auth: 'backend', body: { enabled: false } },
  { method: 'GET', path: '/v1/payments', auth: 'backend' },
  { method: 'GET', path: '/v1/payments/pi_1/receipt', auth: 'backend' },
  { method: 'GET', path: '/v1/keys', auth: 'backend' },
  { method: 'POST', path: '/v1/keys', auth: 'backend', body: { name: 'x' } },
  { method: 'DELETE', path: '/v1/keys/0123456789abcdef', auth: 'backend' },
  { method: 'POST', path: '/v1/keys/0123456789abcdef/rotate', auth: 'backend' },
  { method: 'GET', path: '/v1/device-credentials', auth: 'backend' },
  {
    method: 'POST',
    path: '/v1/device-credentials',
    auth: 'backend',
    body: { name: 'x', publish: ['audio'] },
  },
  { method: 'DELETE', path: '/v1/device-credentials/0123456789abcdef', auth: 'backend' },
  { method: 'POST', path: '/v1/device-credentials/0123456789abcdef/rotate', auth: 'backend' },
  { method: 'POST', path: '/v1/usage', auth: 'relay', body: { records: [] } },
  { method: 'POST', path: '/v1/stripe/webhook', auth: 'signature', body: {} },
];
const KEYED = ROUTES.filter((route) => route.auth === 'backend' || route.auth === 'relay');
const named = (routes: readonly Route[]) =>
  routes.map((route) => [`${route.method} ${route.path}`, route] as const);
const keyFor = (route: Route, of = tenant) => (route.auth === 'relay' ? of.relayKey : of.key);
const otherKindFor = (route: Route) => (route.auth === 'relay' ? tenant.key : tenant.relayKey);
const send = (route: Route, options: RequestOptions = {}) =>
  app.request(route.method, route.path, {
    ...(route.body === undefined ? {} : { body: route.body }),
    ...options,
  });

describe('authentication', () => {
  describe.each(named(KEYED))('%s', (_name, route) => {
    const revoked = async () => {
      const body = { name: 'gone', kind: route.auth };
      const { key, api_key } = expectOk(
        await app.request('POST', '/v1/keys', { key: tenant.key, body }),
        201,
      );
      expectOk(await app.request('DELETE', `/v1/keys/${key.id}`, { key: tenant.key }), 204);
      return api_key as string;
    };
    const retired = async () => {
      const body = { name: 'gone', kind: route.auth };
      const { key, api_key } = expectOk(
        await app.request('POST', '/v1/keys', { key: tenant.key, body }),
        201,
      );
      const overlap = { key: tenant.key, body: { overlap_seconds: 0 } };
      expectOk(await app.request('POST', `/v1/keys/${key.id}/rotate`, overlap), 201);
      return api_key as string;
    };
    const wrong: Record<string, () => string | undefined | Promise<string>> = {
      'no Authorization': () => undefined,
      'an empty one': () => '',
      'Bearer and nothing': () => 'Bearer',
      'Bearer and a space': () => 'Bearer ',
      'the key alone': () => keyFor(route),
      'another scheme': () => `Basic ${keyFor(route)}`,
      'Bearer without a space': () => `Bearer${keyFor(route)}`,
      'Bearer and a tab': () => `Bearer\t${keyFor(route)}`,
      'two keys': () => `Bearer ${keyFor(route)} ${keyFor(route)}`,
      'two keys with a comma': () => `Bearer ${keyFor(route)}, Bearer ${keyFor(route)}`,
      'quotes around the key': () => `Bearer "${keyFor(route)}"`,
      'text of another form': () => 'Bearer svc_x_y',
      'an unknown id': () => `Bearer svc_0123456789abcdef_${'A'.repeat(43)}`,
      'the id in upper case': () =>
        `Bearer ${keyFor(route).replace(/_([0-9a-f]{16})_/, (id) => id.toUpperCase())}`,
      'a wrong secret': () =>
        `Bearer ${keyFor(route).slice(0, -1)}${keyFor(route).endsWith('A') ? 'E' : 'A'}`,
      'a secret too short': () => `Bearer ${keyFor(route).slice(0, -1)}`,
      'a secret too long': () => `Bearer ${keyFor(route)}A`,
      'the secret of another key': () =>
        `Bearer ${keyFor(route).slice(0, 21)}${keyFor(route, other).slice(21)}`,
      'another prefix': () => `Bearer ${keyFor(route).replace('svc_', 'sk_')}`,
      'the prefix in upper case': () => `Bearer ${keyFor(route).replace('svc_', 'SVC_')}`,
      'no prefix': () => `Bearer ${keyFor(route).slice(4)}`,
      'a key of the other kind': () => `Bearer ${otherKindFor(route)}`,
      'a revoked key': async () => `Bearer ${await revoked()}`,
      'a retired key': async () => `Bearer ${await retired()}`,
    };

    test.each(Object.entries(wrong))('401 for %s', async (_what, credential) => {
      const authorization = await credential();
      const answer = await send(route, { headers: authorization === undefined ? {} : { authorization } });
      expectError(answer, 401, 'invalid api key');
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    });

    test('401 for two Authorization headers, even if both are right', async () => {
      const bearer = `authorization: Bearer ${keyFor(route)}`;
      for (const second of [bearer, 'authorization: Bearer x', 'Authorization:']) {
        for (const headers of [
          [bearer, second],
          [second, bearer],
        ]) {
          const head = [...headers, 'content-type: application/json', 'content-length: 2'];
          const answer = await sendBytes(
            app.url,
            rawRequest(`${route.method} ${route.path} HTTP/1.1`, head, '{}'),
          );
          expectError(answer, 401, 'invalid api key');
        }
      }
    });

    test.each(['Bearer ', 'bearer ', 'BEARER ', 'Bearer   '])('takes the key after %j', async (scheme) => {
      const answer = await send(route, { headers: { authorization: `${scheme}${keyFor(route)}` } });
      expect(answer.status).not.toBe(401);
    });

    test('401 before the body is parsed', async () => {
      const bodies: RequestOptions[] = [
        { raw: '{' },
        { raw: '{}', headers: { 'content-type': 'text/plain' } },
        { raw: '{}', headers: { 'content-encoding': 'gzip' } },
        { raw: '{"unknown":1}' },
        { raw: new Uint8Array([0xff]) },
        { raw: ' '.repeat(2 ** 20 + 1) },
      ];
      for (const body of route.method === 'GET' ? [] : bodies) {
        expectError(await app.request(route.method, route.path, body), 401, 'invalid api key');
        expectError(
          await app.request(route.method, route.path, { ...body, key: otherKindFor(route) }),
          401,
          'invalid api key',
        );
      }
    });

    test('401 for the other kind even where the tenant is deleted', async () => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, 'deleted');
      const key = route.auth === 'relay' ? fresh.key : fresh.relayKey;
      expectError(await send(route, { key }), 401, 'invalid api key');
    });

    if (route.body !== undefined) {
      test('400 for a bad body before the status of the tenant', async () => {
        const fresh = await app.signUp();
        await setStatus(app, fresh, 'deleted');
        const answer = await app.request(route.method, route.path, {
          key: keyFor(route, fresh),
          raw: '{"x":1}',
        });
        expect(answer.status, answer.text).toBe(400);
      });
    }
  });
});

describe('routes that need no key', () => {
  test.each(named(ROUTES.filter((route) => route.auth === 'none')))('%s', async (_name, route) => {
    const answer = await send(route);
    expect(answer.status).toBeLessThan(300);
    expectCommonHeaders(answer);
  });
});

describe('404', () => {
  const paths = [
    '/v1',
    '/v1/',
    '/v2/rates',
    '/v1/rates/',
    '/V1/rates',
    '/v1/Rates',
    '//v1/rates',
    '/v1//rates',
    '/v1/rates;x',
    '/v1/rates%2f',
    '/v1/rates%00',
    '/v1/keys/a/b',
    '/v1/keys/a/rotate/',
    '/v1/stripe',
    '/v1/other/webhook',
    '/v1/%',
    '/v1/%ff',
    '/v1/keys/%zz',
    '/v1/keys/%c0%af',
    '/__proto__',
    '/constructor',
    '/metrics',
    '/healthz',
    '/.env',
    '/favicon.ico',
    `/${'a'.repeat(4000)}`,
  ];

  test.each(paths)('%s does not exist', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      expectError(await app.request(method, path), 404, 'not found');
    }
  });

  test.each([
    '/v1/%',
    '/v1/%ff',
    '/v1/../etc/passwd',
    '/v1/keys/../../x',
    '*',
    'http://example.com/v1/nothing',
  ])('there is no %s, as the wire has it', async (path) => {
    const answer = await sendBytes(app.url, rawRequest(`GET ${path} HTTP/1.1`));
    expectError(answer, 404, 'not found');
  });

  test('comes before the key and before the body', async () => {
    const bodies: RequestOptions[] = [
      {},
      { key: 'nonsense' },
      { key: tenant.key },
      { raw: '{' },
      { raw: '{}', headers: { 'content-type': 'text/plain' } },
      { raw: '{}', headers: { 'content-encoding': 'gzip' } },
      { raw: '{}', headers: { 'content-type': 'application/json; charset=latin1' } },
      { raw: new Uint8Array([0xff]) },
      { raw: ' '.repeat(2 ** 20 + 1) },
    ];
    for (const options of bodies)
      expectError(await app.request('POST', '/v1/nothing', options), 404, 'not found');
  });
});

describe('405', () => {
  const allowed: Record<string, string> = {
    '/v1/rates': 'GET, HEAD',
    '/v1/signup': 'POST',
    '/v1/billing': 'GET, HEAD',
    '/v1/billing/checkout': 'POST',
    '/v1/billing/portal': 'POST',
    '/v1/billing/auto-top-up': 'PUT',
    '/v1/payments': 'GET, HEAD',
    '/v1/payments/pi_1/receipt': 'GET, HEAD',
    '/v1/keys': 'GET, HEAD, POST',
    '/v1/keys/0123456789abcdef': 'DELETE',
    '/v1/keys/0123456789abcdef/rotate': 'POST',
    '/v1/device-credentials': 'GET, HEAD, POST',
    '/v1/device-credentials/0123456789abcdef': 'DELETE',
    '/v1/device-credentials/0123456789abcdef/rotate': 'POST',
    '/v1/usage': 'POST',
    '/.well-known/jwks.json': 'GET, HEAD',
    '/v1/stripe/webhook': 'POST',
    '/openapi.json': 'GET, HEAD',
  };
  const METHODS = [
    'GET',
    'HEAD',
    'POST',
    'PUT',
    'PATCH',
    'DELETE',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'PURGE',
    'QUERY',
  ];

  describe.each(Object.entries(allowed))('%s allows %s', (path, allow) => {
    test.each(METHODS.filter((method) => !allow.split(', ').includes(method)))('not %s', async (method) => {
      if (method === 'HEAD') {
        const answer = await app.request(method, path);
        expect([answer.status, answer.headers.get('allow')]).toStrictEqual([405, allow]);
        expectCommonHeaders(answer);
        return;
      }
      const answer = await sendBytes(app.url, rawRequest(`${method} ${path} HTTP/1.1`));
      expectError(answer, 405, 'method not allowed');
      expect(answer.headers.get('allow')).toBe(allow);
    });
  });

  test('comes before the key and before the body', async () => {
    const bodies: RequestOptions[] = [
      {},
      { key: tenant.relayKey },
      { raw: '{' },
      { raw: '{}', headers: { 'content-type': 'text/plain' } },
      { raw: '{}', headers: { 'content-encoding': 'gzip' } },
      { raw: ' '.repeat(2 ** 20 + 1) },
    ];
    for (const options of bodies) {
      expectError(await app.request('PATCH', '/v1/usage', options), 405, 'method not allowed');
    }
  });
});

describe('every answer', () => {
  test('has its own X-Request-Id, whatever the caller sends', async () => {
    const headers = { 'x-request-id': 'mine', 'request-id': 'mine' };
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () =>
        (await app.request('GET', '/v1/rates', { headers })).headers.get('x-request-id'),
      ),
    );
    expect(new Set(ids).size).toBe(20);
    expect(ids).not.toContain('mine');
  });

  test('may not be stored, including the OpenAPI description and its pages', async () => {
    for (const path of ['/openapi.json', '/docs/rest', '/docs/rest/', '/checkout/co_x', '/v1/rates']) {
      expectCommonHeaders(await app.request('GET', path));
    }
  });

  test('names neither the software behind it nor its version', async () => {
    for (const path of ['/v1/rates', '/v1/nothing', '/v1/billing']) {
      const { headers } = await app.request('GET', path);
      expect([headers.get('server'), headers.get('x-powered-by')]).toStrictEqual([null, null]);
    }
  });
});

describe('GET /checkout/{id}', () => {
  test.each([
    'xyzzy',
    '%00',
    'co_0',
    `co_${'0'.repeat(32)}`,
    '%F0%9F%98%80',
    "'%20or%201=1",
    'a'.repeat(500),
    '__proto__',
  ])('there is no checkout %s', async (id) => {
    const answer = await app.request('GET', `/checkout/${id}`);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expectCommonHeaders(answer);
    expect(answer.text).not.toContain(decodeURIComponent(id));
  });
});

test('no route fails with an id that PostgreSQL cannot store', async () => {
  const { key } = await app.signUp();
  const { paths } = (await app.request('GET', '/openapi.json')).json as { paths: Record<string, object> };
  const tried = Object.entries(paths).flatMap(([path, operations]) =>
    path.includes('{') ? Object.keys(operations).map((method) => [method, path] as const) : [],
  );
  expect(tried.length).toBeGreaterThan(15);
  for (const [method, path] of tried) {
    const answer = await app.request(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, '%00'), { key });
    expect([400, 404], `${method} ${path}: ${answer.text}`).toContain(answer.status);
  }
});

describe('500', () => {
  const broken = useService();

  test('reveals no more, whatever is broken, and the service continues', async () => {
    const { key, relayKey } = await broken.signUp();
    const { db } = broken.service.deps;
    const signup = { body: { name: 'x', email: 'a@example.com' } };
    const answers = async () => [
      await ask(`${broken.url}/v1/billing`, 'GET', { key }),
      await ask(`${broken.url}/v1/usage`, 'POST', { key: relayKey, body: { records: [] } }),
      await ask(`${broken.url}/v1/signup`, 'POST', signup),
    ];
    await db.query('alter table tenants rename to lost');
    for (const answer of await answers()) expectError(answer, 500, 'internal error');
    await db.query('alter table lost rename to tenants');
    for (const answer of await answers()) expect(answer.status).toBeLessThan(300);
  });
});

describe('closing', () => {
  test('requests in progress are answered, and their connections are closed', async () => {
    const { db } = app.service.deps;
    const rest = await buildRest(app.service.deps, { trustProxy: [] });
    const url = await rest.listen({ host: '127.0.0.1', port: 0 });
    const holder = await openHolder(db);
    // No other request waits for this row; background work reads the whole table now and then.
    await holder.query('select from accounts where tenant_id = $1 for update', [parseTenantId(tenant.id)]);
    const answer = ask(`${url}/v1/usage`, 'POST', { key: tenant.relayKey, body: { records: [] } });
    // Not by the holder: a transaction always sees the activity of its first look.
    await expect.poll(() => countLockWaiters(db)).toBe(1);

    const started = performance.now();
    const stopped = rest.close();
    await holder.release();
    expectOk(await answer);
    await stopped;
    // A connection that is kept alive lasts 65 seconds.
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});
