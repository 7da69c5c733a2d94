/** Files for spreadsheets that want semicolons. */
import { beforeAll, expect, test } from 'vitest';
import { getPage, makeMember } from '../../support/console.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const MONTH = new Date().toISOString().slice(0, 7);
let tenant: TestTenant;
let cookie: string;

beforeAll(async () => {
  tenant = await app.paidTenant();
  ({ cookie } = await makeMember(app.service.deps.db, idOf(tenant), { role: 'viewer' }));
  const records = [usageRecord({ room: 'lobby', participant: 'ann' })];
  await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
});

test.each([
  ['/console/ledger', '/console/ledger.csv'],
  ['/console/payments', '/console/payments.csv'],
  ['/console/spend', '/console/spend.csv'],
  ['/console/statements', `/console/statements/${MONTH}/csv`],
  [`/console/statements/${MONTH}`, `/console/statements/${MONTH}/csv`],
  [undefined, '/console/room-sessions.csv'],
])('%s offers %s with commas and with semicolons, and nothing else', async (page, path) => {
  const links = page === undefined ? [] : linksIn((await getPage(app, page, cookie)).text, path);
  if (page !== undefined) expect(links).toHaveLength(2);
  const [commas = path, semicolons = `${path}?separator=semicolon`] = links;
  const [one, other] = [await getPage(app, commas, cookie), await getPage(app, semicolons, cookie)];
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(other.headers.get('content-disposition')).toBe(one.headers.get('content-disposition'));
  // No cell here has either of them.
  expect(other.text).toBe(one.text.replaceAll(',', ';'));
  const unknown = `${commas}${commas.includes('?') ? '&' : '?'}separator=tab`;
  expect((await getPage(app, unknown, cookie)).status).toBe(400);
});

function linksIn(text: string, path: string): string[] {
  const all = [...text.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'));
  return all.filter((href) => href.startsWith(path));
}
