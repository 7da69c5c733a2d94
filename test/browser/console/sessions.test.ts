/** The pages of sessions, and the page of a suspended tenant, in a browser. */
import { beforeAll, expect, test } from 'vitest';
import { changeStatus } from '../../../src/money/tenant-status/change-status.ts';
import { LOOKS, OPS_URL, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, makeMember, type TestMember } from '../../support/console.ts';
import { makeOperator, OPERATOR_COOKIE, type TestOperator } from '../../support/operators.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, OPERATOR } from '../../support/tenants.ts';
import { expectAccessibleInAllLooks } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);
const HOSTILE = '<script>document.title="stolen"</script>';

let tenant: TestTenant;
let owner: TestMember;
let locked: TestMember;
let operator: TestOperator;

beforeAll(async () => {
  const { db } = app.service.deps;
  tenant = await app.paidTenant();
  owner = await makeMember(db, idOf(tenant), { email: 'ada.lovelace@example.org' });
  await makeMember(db, idOf(tenant), { role: 'viewer' });
  await db.query('update console_sessions set device = $1, network = $2', [
    'Firefox on Linux',
    '203.0.113.0/24',
  ]);
  await db.query('update console_sessions set device = $1 where member_id <> $2', [HOSTILE, owner.id]);
  operator = await makeOperator(db);
  await makeOperator(db);
  const suspended = await app.paidTenant();
  locked = await makeMember(db, idOf(suspended), { email: 'ada.lovelace@example.org' });
  await changeStatus(
    db,
    OPERATOR,
    idOf(suspended),
    'suspended',
    'x',
    `Several payments were disputed. ${HOSTILE}`,
  );
});

const PAGES: Readonly<Record<string, () => { url: string; cookie: string; secret: string }>> = {
  sessions: () => ({ url: `${PUBLIC_URL}/console/sessions`, cookie: COOKIE, secret: owner.secret }),
  suspended: () => ({ url: `${PUBLIC_URL}/console`, cookie: COOKIE, secret: locked.secret }),
  'sessions of an operator': () => ({
    url: `${OPS_URL}/console/sessions`,
    cookie: OPERATOR_COOKIE,
    secret: operator.secret,
  }),
  'sessions of a tenant': () => ({
    url: `${OPS_URL}/console/tenants/${tenant.id}/sessions`,
    cookie: OPERATOR_COOKIE,
    secret: operator.secret,
  }),
};

test.each(Object.entries(PAGES))('%s is accessible, fits, and runs no foreign text', async (name, of) => {
  const { url, cookie, secret } = of();
  const { page, complaints } = await browser.open(LOOKS[0]!);
  await page.context().addCookies([{ name: cookie, value: secret, url: new URL(url).origin }]);
  await page.goto(url);
  await expectAccessibleInAllLooks(page, name);
  expect(await page.locator('main script').count()).toBe(0);
  expect(await page.title()).toMatch(/ · Boxoffice/);
  expect(complaints.filter((each) => !/status of 403/.test(each))).toEqual([]);
});
