/** Which routes read so much that they take turns in a place of their own. */
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { Turns } from '../../src/base/lib/turns.ts';
import { HeavyReads } from '../../src/base/tenants/heavy-reads.ts';
import { getPage, logInByKey } from '../support/console.ts';
import { type TestTenant, useService } from '../support/service.ts';
import { idOf } from '../support/tenants.ts';

const app = useService();
let tenant: TestTenant;
let cookie: string;

beforeAll(async () => {
  tenant = await app.paidTenant();
  cookie = await logInByKey(app, tenant.key);
});
afterEach(() => void vi.restoreAllMocks());

const month = new Date().toISOString().slice(0, 7);
const get = (path: string) => app.request('GET', path, { key: tenant.key });
const participants = [{ role: 'host', tier: 'hd', count: 1, seconds: 60, egress_bytes: 1 }];

test.each<[string, boolean, () => Promise<{ readonly status: number }>]>([
  ['a balance', false, () => get('/v1/billing')],
  ['a list of statements', false, () => get('/v1/statements')],
  ['a statement', true, () => get(`/v1/statements/${month}?so_far=true`)],
  ['a summary', true, () => get('/v1/usage/summary')],
  [
    'a look-up',
    true,
    () => app.request('POST', '/v1/usage/lookup', { key: tenant.relayKey, body: { ids: [] } }),
  ],
  [
    'a simulation',
    true,
    () => app.request('POST', '/v1/rates/simulate', { key: tenant.key, body: { participants } }),
  ],
  [
    'the ledger as a file',
    true,
    () => app.request('GET', '/v1/ledger', { key: tenant.key, headers: { accept: 'text/csv' } }),
  ],
  ['a page of the console', false, () => getPage(app, '/console', cookie)],
  ['a page of a statement', true, () => getPage(app, `/console/statements/${month}`, cookie)],
  ['a statement as a file', true, () => getPage(app, `/console/statements/${month}/csv`, cookie)],
])('%s is a heavy read: %s', async (_, isHeavy, read) => {
  const run = vi.spyOn(HeavyReads.prototype, 'run');
  expect((await read()).status).toBe(200);
  expect(run.mock.calls.length > 0).toBe(isHeavy);
});

test.each([
  ['/v1/ledger', { accept: 'text/csv' }],
  ['/v1/usage/records', { accept: 'application/x-ndjson' }],
])(
  'an export by %s that waits for its turn in vain is 503, and no answer that breaks off',
  async (path, headers) => {
    const overloaded = new Failure('overloaded', { retryAfter: 2 });
    vi.spyOn(HeavyReads.prototype, 'run').mockRejectedValueOnce(overloaded);
    const answer = await app.request('GET', path, { key: tenant.key, headers });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
  },
);

test('a large body is parsed in a turn of its tenant, and one without a key in a turn of its client', async () => {
  const run = vi.spyOn(Turns.prototype, 'run');
  const name = 'x'.repeat(40_000);
  await app.request('POST', '/v1/keys', { key: tenant.key, body: { name: 'small' } });
  expect(run).not.toHaveBeenCalled();
  await app.request('POST', '/v1/keys', { key: tenant.key, body: { name } });
  await app.request('POST', '/v1/signup', { body: { name } });
  expect(run.mock.calls.map(([owner]) => owner)).toEqual([idOf(tenant), '127.0.0.1']);
});

test('an object of very many members is refused before it is parsed', async () => {
  const parse = vi.spyOn(JSON, 'parse');
  const body = Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`k${at}`, 1]));
  const { status } = await fetch(`${app.url}/v1/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(status).toBe(400);
  expect(parse.mock.calls.filter(([text]) => text.length > 100_000)).toEqual([]);
});
