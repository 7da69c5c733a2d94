/** Which routes read so much that they take turns in a place of their own. */
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { HeavyReads } from '../../src/base/tenants/heavy-reads.ts';
import { getPage, logInByKey } from '../support/console.ts';
import { type TestTenant, useService } from '../support/service.ts';

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
