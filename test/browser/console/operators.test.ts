import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { OPERATOR_PICTURES } from '../../../scripts/screenshots/pictures.ts';
import { makeOperatorLink } from '../../../src/access/operators/log-in-with-link.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { LOOKS, OPS_URL, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { getOpsPage, makeOperator, OPERATOR_COOKIE, type TestOperator } from '../../support/operators.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { expectAccessible, expectAccessibleInAllLooks, routesWithoutPath, tabTo } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);

/** Texts that break a page which does not escape them, which turn writing around, and which are long. */
const HOSTILE = [
  '<script>document.title="stolen"</script>',
  '"><img src=x onerror="document.title=1">',
  '\u202Etxet desrever\u202C',
  'W'.repeat(90),
];

let tenant: TestTenant;
let webhook: string;
let operator: TestOperator;
/** The path of a link that logs in. */
let link: string;

beforeAll(async () => {
  const { db } = app.service.deps;
  tenant = await app.paidTenant({ cents: 12_345 });
  for (const name of HOSTILE) {
    await app.request('POST', '/v1/keys', { key: tenant.key, body: { name, kind: 'relay' } });
    const other = await app.signUp({ email: 'x@example.com' });
    await db.query('update tenants set name = $2, email = $3 where id = $1', [
      idOf(other),
      name,
      `${name}@x.example`,
    ]);
  }
  await db.query('update tenants set name = $2 where id = $1', [idOf(tenant), HOSTILE[0]]);
  for (const reason of HOSTILE) {
    const given = { amount: 1_000_000n, reason, expiresAt: new Date('2100-01-01'), key: undefined };
    await grantCredit(db, OPERATOR, idOf(tenant), given);
  }
  await db.query(
    `insert into tenant_status_changes (tenant_id, at, old_status, new_status, reason)
     select $1, now() - at * interval '1 hour', 'active', 'active', reason
       from unnest($2::text[]) with ordinality as t (reason, at)`,
    [idOf(tenant), HOSTILE],
  );
  await db.query(
    `insert into provider_events (id, type, outcome, reason, tenant_id, payment_id)
     values ('evt_parked', 'payment_intent.succeeded', 'parked', $1, $2, 'pi_parked')`,
    [HOSTILE.join(' '), idOf(tenant)],
  );
  await db.query(
    `insert into top_up_attempts (id, tenant_id, amount, state, finished_at, error)
     values ($1, $2, 5000000, 'declined', now(), $3)`,
    [`tu_${'a'.repeat(32)}`, idOf(tenant), HOSTILE.join(' ')],
  );
  await db.query(`insert into disputes (id, payment_id, amount) values ('du_1', 'pi_unknown', 100)`);
  await db.query(`insert into fraud_warnings (id, payment_id) values ('issfr_1', 'pi_unknown')`);
  for (const seconds of [60, 61]) {
    const records = HOSTILE.map((text, at) => usageRecord({ id: `c-${at}-${text}`, room: text, seconds }));
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  }
  await db.query(
    `insert into verifications (id, operator, started_at, finished_at, differences, shown)
     values ($1, 'grace', now() - interval '1 hour', now(), 1, $2)`,
    [
      `vf_${'d'.repeat(32)}`,
      JSON.stringify([{ tenant: tenant.id, what: HOSTILE[0], expected: HOSTILE[1], found: HOSTILE[3] }]),
    ],
  );
  for (const description of HOSTILE) {
    const body = { url: `https://${'w'.repeat(60)}.example/hook`, types: [] };
    const made = await app.request('POST', '/v1/webhooks', { key: tenant.key, body });
    webhook = made.json.webhook.id;
    // As of before descriptions were refused.
    await db.query('update webhook_endpoints set description = $2 where id = $1', [webhook, description]);
  }
  await db.query(
    `insert into webhook_deliveries (tenant_id, webhook_id, kind, event_id, seq, type, attempt, latency_ms, error)
     select $1, $2, 'event', 'evt_' || n, n, 'automatic_top_up_declined', n, 9999, $3 from generate_series(1, 30) n`,
    [idOf(tenant), webhook, HOSTILE[0]],
  );
  await db.query(
    `insert into sessions (tenant_id, id, room, room_uid, participant, role, entered_at)
     select $1, 'se_' || md5(text), text, 'rm_1', text, 'host', now() from unnest($2::text[]) as text`,
    [idOf(tenant), HOSTILE],
  );
  await db.query(
    `insert into mails (id, tenant_id, address, kind, event_type, event_at, subject, state, created_at, next_at, error, event_seq)
     values ('mail_' || md5('1'), $1, 'a@example.com', 'alert', 'credit_spent', now(), '{}', 'waiting', now() - interval '1 hour',
             now() + interval '1 hour', $2, 1)`,
    [idOf(tenant), HOSTILE[0]],
  );
  operator = await makeOperator(db, { name: `grace ${HOSTILE[0]}` });
  link = new URL(await makeOperatorLink(db, OPERATOR, OPS_URL)).pathname;
});

const PAGES: Readonly<Record<string, () => string>> = {
  link: () => link,
  overview: () => '/console',
  tenants: () => '/console/tenants',
  'no tenants': () => `/console/tenants?search=${encodeURIComponent(`nobody ${HOSTILE[1]}`)}`,
  tenant: () => `/console/tenants/${tenant.id}`,
  status: () => `/console/tenants/${tenant.id}/status`,
  credit: () => `/console/tenants/${tenant.id}/credit`,
  grants: () => `/console/tenants/${tenant.id}/grants`,
  limits: () => `/console/tenants/${tenant.id}/limits`,
  details: () => `/console/tenants/${tenant.id}/details`,
  ledger: () => `/console/tenants/${tenant.id}/ledger`,
  members: () => `/console/tenants/${tenant.id}/members`,
  'room sessions': () => `/console/tenants/${tenant.id}/room-sessions`,
  webhooks: () => `/console/tenants/${tenant.id}/webhooks`,
  webhook: () => `/console/tenants/${tenant.id}/webhooks/${webhook}`,
  payments: () => '/console/payments',
  parked: () => '/console/payments/evt_parked',
  revenue: () => '/console/revenue',
  conflicts: () => '/console/conflicts',
  'conflicts of a tenant': () => `/console/conflicts?tenant=${tenant.id}`,
  rates: () => '/console/rates',
  'signing keys': () => '/console/signing-keys',
  verify: () => '/console/verify',
  audit: () => '/console/audit',
  'not found': () => '/console/nothing',
};

test('every page is here, or in a test of its own', () => {
  const paths = Object.values(PAGES).map((path) => path());
  expect(routesWithoutPath(OPERATOR_PICTURES, paths)).toEqual([
    '/console/login',
    '/console/confirm',
    '/console/tenants/:tenant/sessions',
    '/console/sessions',
  ]);
});

test.each(Object.entries(PAGES))('%s is accessible, fits, and runs no foreign text', async (name, path) => {
  const { page, complaints } = await browser.open(LOOKS[0]!);
  await page.context().addCookies([{ name: OPERATOR_COOKIE, value: operator.secret, url: OPS_URL }]);
  await page.goto(`${OPS_URL}${path()}`);
  await expectAccessibleInAllLooks(page, `operators-${name}`);
  expect(await page.locator('main script, main img').count()).toBe(0);
  expect(await page.title()).toMatch(/ · Boxoffice operators$/);
  expect(complaints.filter((each) => !/status of 404/.test(each))).toEqual([]);
});

test('the log-in is accessible', async () => {
  const { page } = await browser.open(LOOKS[0]!);
  await page.goto(`${OPS_URL}/console`);
  expect(new URL(page.url()).pathname).toBe('/console/login');
  await expectAccessibleInAllLooks(page, 'operators-log-in');
});

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  test('an operator logs in, adjusts credit, and logs out, with the keyboard alone', async () => {
    const { page } = await browser.open(LOOKS[0]!, { javaScriptEnabled });
    await page.goto(await makeOperatorLink(app.service.deps.db, OPERATOR, OPS_URL));
    await tabTo(page, 'main button');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${OPS_URL}/console`);
    await page.goto(`${OPS_URL}/console/tenants/${tenant.id}/credit`);
    await tabTo(page, '#dollars');
    await page.keyboard.type('1.50');
    await tabTo(page, '#reason');
    await page.keyboard.type('for the trouble');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^Give credit to/ }).waitFor();
    // The check itself is a script.
    if (javaScriptEnabled) await expectAccessible(page);
    await tabTo(page, 'main button');
    await page.keyboard.press('Enter');
    await page.getByRole('status').waitFor();
    expect(await page.locator('main').textContent()).toContain('Posted $1.500000');
    await page.goto(`${OPS_URL}/console/tenants/${tenant.id}`);
    await tabTo(page, '.who button');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${OPS_URL}/console/login`);
    await page.goBack();
    await page.waitForURL(`${OPS_URL}/console/login`);
    expect(new URL(page.url()).pathname).toBe('/console/login');
  });
});

describe.each([true, false])('the search, with JavaScript: %s', (javaScriptEnabled) => {
  test('leads from any page to the tenant, with the keyboard alone', async () => {
    const { page } = await browser.open(LOOKS[0]!, { javaScriptEnabled });
    await page.context().addCookies([{ name: OPERATOR_COOKIE, value: operator.secret, url: OPS_URL }]);
    await page.goto(`${OPS_URL}/console/rates`);
    await tabTo(page, '.search input');
    await page.keyboard.type(webhook);
    await page.keyboard.press('Enter');
    await page.waitForURL(`${OPS_URL}/console/tenants/${tenant.id}`);
  });
});

test('a verification that ends is shown with its row of the table, without a reload', async () => {
  const { db } = app.service.deps;
  const id = `vf_${'e'.repeat(32)}`;
  await db.query(
    `insert into verifications (id, operator, step, done, total) values ($1, 'grace', 'computing', 3, 7)`,
    [id],
  );
  const { page } = await browser.open(LOOKS[0]!);
  await page.context().addCookies([{ name: OPERATOR_COOKIE, value: operator.secret, url: OPS_URL }]);
  await page.goto(`${OPS_URL}/console/verify`);
  const newest = page.locator('table.rows').first().locator('tbody tr').first();
  expect(await newest.textContent()).toContain('goes on');
  await db.query('update verifications set finished_at = now(), differences = 0, done = 7 where id = $1', [
    id,
  ]);
  await page.getByText('Nothing differs in 7 records').waitFor();
  expect(await newest.textContent()).toMatch(/7\s*nothing differs/);
  await db.query('delete from verifications where id = $1', [id]);
});

test.each(Object.entries(PAGES))('%s weighs at most 30 kB, with what it loads', async (_name, path) => {
  const answer = await getOpsPage(app, path(), operator.cookie);
  const assets = [...answer.text.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)].map(
    ([, found]) => found!,
  );
  const texts = await Promise.all(assets.map(async (each) => (await getOpsPage(app, each)).text));
  expect(assets.length).toBe(3);
  const bytes = [answer.text, ...texts].reduce((sum, text) => sum + gzipSync(text).length, 0);
  expect(bytes).toBeLessThan(30_000);
});
