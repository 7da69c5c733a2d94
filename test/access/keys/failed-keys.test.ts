import { inspect } from 'node:util';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { newKey } from '../../../src/access/keys/api-key.ts';
import { expectError, expectOk } from '../../doors/rest/support.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const BUDGET = 100;
const BUDGET_OF_ID = 80;
const tooMany = 'too many failed api keys from this address';
const get = (key: string, from: string, url = app.url) =>
  ask(`${url}/v1/keys`, 'GET', { key, headers: { 'x-forwarded-for': from } });
const wrong = () => newKey('svc').plaintext;
const spend = (from: string, count = BUDGET, url = app.url) =>
  Promise.all(Array.from({ length: count }, () => get(wrong(), from, url)));
/** Statements that look up or count keys, from now on. */
const watchDatabase = () => vi.spyOn(app.service.deps.db, 'query');

describe('well-formed wrong keys', () => {
  test('a hundred get 401, then all get 429, without a count', async () => {
    const from = '192.0.2.1';
    for (const answer of await spend(from)) expectError(answer, 401, 'invalid api key');
    expectError(await get(wrong(), from), 429, tooMany);

    const query = watchDatabase();
    for (const refused of await spend(from, 20)) {
      expectError(refused, 429, tooMany);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
    expect(
      query.mock.calls.filter(([statement]) => inspect(statement).includes('rate_limits')),
    ).toStrictEqual([]);
  });

  test('a correct key passes from a used-up address, in every process', async () => {
    const from = '192.0.2.2';
    const { url } = await app.another();
    await spend(from, BUDGET + 1);
    for (const each of [app.url, url]) {
      expectError(await get(wrong(), from, each), 429, tooMany);
      expectOk(await get(tenant.key, from, each));
    }
  });

  test('a wrong secret of a key and an unknown id are answered alike in every state, in every process', async () => {
    const { url } = await app.another();
    const wrongSecret = `${tenant.key.slice(0, -4)}AAAA`;
    for (const [from, used] of [
      ['192.0.2.20', 0],
      ['192.0.2.21', BUDGET],
    ] as const) {
      expectOk(await get(tenant.key, from));
      await spend(from, used);
      for (const each of [app.url, url]) {
        const [ofKey, unknown] = [await get(wrongSecret, from, each), await get(wrong(), from, each)];
        expect(ofKey.status).toBe(used === 0 ? 401 : 429);
        expect([unknown.status, unknown.json]).toStrictEqual([ofKey.status, ofKey.json]);
      }
    }
  });

  test.each(['unknown', 'of a real id'])(
    'a repeated wrong key (%s) uses up its own budget alone',
    async (which) => {
      const from = which === 'unknown' ? '192.0.2.22' : '192.0.2.23';
      const repeated = which === 'unknown' ? wrong() : `${tenant.key.slice(0, -4)}AAAA`;
      for (let count = 0; count < BUDGET_OF_ID; count += 1) {
        expectError(await get(repeated, from), 401, 'invalid api key');
      }
      for (let count = 0; count < BUDGET; count += 1) expectError(await get(repeated, from), 429, tooMany);
      expectError(await get(wrong(), from), 401, 'invalid api key');
      expectOk(await get(tenant.key, from));
    },
  );

  test('a key that worked before its revocation is refused', async () => {
    const from = '192.0.2.3';
    const body = { name: 'x' };
    const { key, api_key } = expectOk(await app.request('POST', '/v1/keys', { key: tenant.key, body }), 201);
    expectOk(await get(api_key, from));
    await spend(from, BUDGET + 1);
    expectOk(await app.request('DELETE', `/v1/keys/${key.id}`, { key: tenant.key }), 204);
    for (let count = 0; count < BUDGET + 10; count += 1) {
      expectError(await get(api_key, from), 401, 'invalid api key');
    }
    expectError(await get(`${api_key.slice(0, -4)}AAAA`, from), 429, tooMany);
  });

  test('other addresses are not affected, and an IPv6 network counts as one address', async () => {
    await spend('2001:db8:5:5::1', BUDGET + 1);
    expectError(await get(wrong(), '2001:db8:5:5:ffff::2'), 429, tooMany);
    expectError(await get(wrong(), '2001:db8:5:6::1'), 401, 'invalid api key');
    expectError(await get(wrong(), '192.0.2.4'), 401, 'invalid api key');
  });

  test('the count is shared by all processes', async () => {
    const { url } = await app.another();
    const from = '192.0.2.5';
    await spend(from, BUDGET / 2);
    await spend(from, BUDGET / 2, url);
    for (const each of [app.url, url]) expectError(await get(wrong(), from, each), 429, tooMany);
  });

  test('the window ends after a minute', async () => {
    const from = '192.0.2.6';
    await spend(from, BUDGET + 1);
    const refused = await get(wrong(), from);
    expectError(refused, 429, tooMany);
    const later = performance.now() + Number(refused.headers.get('retry-after')) * 1000 + 1;
    vi.spyOn(performance, 'now').mockReturnValue(later);
    await app.service.deps.db.query('update rate_limits set expire = 0 where key like $1', [`%:${from}`]);
    expect((await get(wrong(), from)).status).toBe(401);
  });
});

describe('what is not counted', () => {
  test('malformed keys, and keys of the other kind', async () => {
    const from = '192.0.2.7';
    const query = watchDatabase();
    await Promise.all(Array.from({ length: BUDGET + 10 }, () => get('svc_not_a_key', from)));
    expect(
      query.mock.calls.filter(([statement]) => /api_keys|rate_limits/.test(inspect(statement))),
    ).toStrictEqual([]);
    for (let count = 0; count < BUDGET + 10; count += 1) {
      expect((await get(tenant.relayKey, from)).status).toBe(401);
    }
    expectError(await get(wrong(), from), 401, 'invalid api key');
  });
});
