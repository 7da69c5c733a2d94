/** The rule for queries, for every route of the description that takes one. */
import { beforeAll, describe, expect, test } from 'vitest';
import { describeRest } from '../../../scripts/describe-rest.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { expectError, sendBytes } from './support.ts';

interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

const { paths } = (await describeRest()) as { paths: Record<string, Record<string, Operation>> };

const routes = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, { security = [], parameters = [] }]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    keys: Object.keys(security[0] ?? {}),
    query: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
    hasPath: parameters.some((each) => each.in === 'path'),
  })),
);
const withQuery = routes.filter(({ query }) => query.length > 0);
const cases = withQuery.flatMap((route) =>
  route.query.map((name) => [`${route.name}?${name}`, route, name] as const),
);

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

/** The path with something in each place that varies. */
const pathOf = ({ path }: (typeof routes)[number], value = 'x') => path.replace(/\{\w+\}/g, value);

/** By hand, because clients would encode the query themselves. */
function ask(route: (typeof routes)[number], query: string, value?: string) {
  const key = route.keys.includes('relay_key') ? tenant.relayKey : tenant.key;
  const head = [
    `${route.method} ${pathOf(route, value)}${query} HTTP/1.1`,
    'host: service.test',
    'connection: close',
    ...(route.keys.length > 0 ? [`authorization: Bearer ${key}`] : []),
  ];
  return sendBytes(app.url, `${head.join('\r\n')}\r\n\r\n`);
}

async function expectRefused(answer: ReturnType<typeof ask>, name: string, what: string): Promise<void> {
  const got = await answer;
  expectError(got, 400, `invalid request: ${name} ${what}`);
  expect(got.headers.get('invalid-field')).toBe(encodeURIComponent(name).replaceAll('%2F', '/'));
}

test('the description has the routes whose queries are known', () => {
  expect(withQuery.map(({ name }) => name).sort()).toStrictEqual([
    'DELETE /v1/keys/{id}',
    'GET /v1/audit',
    'GET /v1/billing/runway',
    'GET /v1/device-credentials',
    'GET /v1/events',
    'GET /v1/grants',
    'GET /v1/keys',
    'GET /v1/ledger',
    'GET /v1/payments',
    'GET /v1/revocations/{tenant}',
    'GET /v1/sessions',
    'GET /v1/statements/{month}',
    'GET /v1/usage/conflicts',
    'GET /v1/usage/records',
    'GET /v1/usage/summary',
    'GET /v1/webhooks/{id}/dead-letters',
    'GET /v1/webhooks/{id}/deliveries',
  ]);
});

describe.each(withQuery.map((route) => [route.name, route] as const))('%s', (_name, route) => {
  test('refuses a parameter that it does not know, alone or beside one that it does', async () => {
    await expectRefused(ask(route, '?frm=2026-11-01'), 'frm', 'is not a known parameter');
    await expectRefused(ask(route, `?frm&${route.query[0]}=x`), 'frm', 'is not a known parameter');
    await expectRefused(ask(route, '#frm=2026-11-01'), 'frm', 'is not a known parameter');
    for (const name of ['__proto__', 'constructor', `${route.query[0]} `, 'ü/~%', 'a\nb', '\0']) {
      await expectRefused(ask(route, `?${encodeURIComponent(name)}=x`), name, 'is not a known parameter');
    }
  });

  test('names at most 100 characters of it', async () => {
    const long = 'ü'.repeat(1_000);
    await expectRefused(
      ask(route, `?${encodeURIComponent(long)}=x`),
      'ü'.repeat(100),
      'is not a known parameter',
    );
  });
});

describe.each(cases)('%s', (_name, route, name) => {
  test('refuses a text with NUL', async () => {
    await expectRefused(ask(route, `?${name}=a%00b`), name, 'must not contain NUL');
    await expectRefused(ask(route, `#${name}=a%00b`), name, 'must not contain NUL');
  });

  test.each(['%', '%zz', '%ff', '%c0%af', '%ed%a0%80', 'a%f0%9f'])('refuses %s', async (text) => {
    await expectRefused(ask(route, `?${name}=${text}`), name, 'must be percent-encoded UTF-8');
  });

  test('refuses 2,001 characters', async () => {
    await expectRefused(
      ask(route, `?${name}=${'x'.repeat(2_001)}`),
      name,
      'must have at most 2000 characters',
    );
  });

  test('is never an error of ours, whatever it is, nor if it is given twice', async () => {
    for (const text of ['', '=', '%F0%9F%98%80', '+', "'", '%25', '-1', 'x'.repeat(2_000), `1&${name}=2`]) {
      const { status } = await ask(route, `?${name}=${text}`);
      expect(status, text).toBeLessThan(500);
    }
  });
});

describe('what stands in a path', () => {
  test.each(routes.filter(({ hasPath }) => hasPath).map((route) => [route.name, route] as const))(
    '%s is never an error of ours',
    async (_name, route) => {
      for (const value of ['%00', 'a%00b', '%ff', '%', "'", '%2F', '..%2f', 'x'.repeat(3_000)]) {
        expect((await ask(route, '', value)).status, value).toBeLessThan(500);
      }
    },
  );
});

test('the key is asked for first', async () => {
  expectError(await app.request('GET', '/v1/ledger?frm=2026-11-01'), 401, 'invalid api key');
});

test('a route that takes no query ignores it, and so does the page after a payment', async () => {
  expect((await app.request('GET', '/v1/rates?frm=%00')).status).toBe(200);
  const page = await app.request('GET', '/checkout/x?canceled=1&utm_source=%00');
  expect([page.status, page.headers.get('content-type')]).toStrictEqual([404, 'text/html; charset=utf-8']);
});

test('the confirmation of a revocation is what it was', async () => {
  const { id } = (
    await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'r', kind: 'relay' } })
  ).json.key;
  const { keys } = (await app.request('GET', '/v1/keys', { key: tenant.key })).json;
  const relays = keys.filter((key: { kind: string; id: string }) => key.kind === 'relay' && key.id !== id);
  const revoke = (key: string, query: string) =>
    app.request('DELETE', `/v1/keys/${key}${query}`, { key: tenant.key });
  for (const relay of relays) expect((await revoke(relay.id, '')).status).toBe(204);
  for (const query of ['', '?confirm=', '?confirm=other', '?confirm=Stop-Service']) {
    const answer = await revoke(id, query);
    expect([answer.status, answer.json.code], query).toStrictEqual([409, 'would_stop_service']);
  }
  expectError(
    await revoke(id, '?confrm=stop-service'),
    400,
    'invalid request: confrm is not a known parameter',
  );
  expect((await revoke(id, '?confirm=stop-service')).status).toBe(204);
});
