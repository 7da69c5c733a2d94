import { mkdirSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { LOOKS, NARROWEST, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, getPage, makeMember, type TestMember } from '../../support/console.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectAccessible } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);

/** Texts that break a page which does not escape them, which turn writing around, and which are long. */
const HOSTILE = [
  '<script>document.title="stolen"</script>',
  '"><img src=x onerror="document.title=1">',
  "'-alert(1)-'",
  '\u202Etxet desrever\u202C',
  'zero\u200Bwidth\u2066',
  'W'.repeat(90),
];

let tenant: TestTenant;
let owner: TestMember;
let charged: string;

beforeAll(async () => {
  tenant = await app.paidTenant({ cents: 12_345 });
  await app.service.deps.db.query('update tenants set name = $2 where id = $1', [idOf(tenant), HOSTILE[0]]);
  const records = HOSTILE.flatMap((text, at) =>
    ['host', 'audience'].map((role) =>
      usageRecord({
        id: `h-${at}-${role}<b>`,
        room: text,
        participant: text,
        role,
        tier: at % 2 ? 'hd' : 'audio',
        seconds: 3000 + at,
      }),
    ),
  );
  charged = String(records[0]!.id);
  await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  for (const name of HOSTILE) {
    await app.request('POST', '/v1/keys', { key: tenant.key, body: { name, kind: 'relay' } });
  }
  await app.request('POST', `/v1/keys/${tenant.relayKeyId}/rotate`, { key: tenant.key });
  await app.service.deps.db.query('update payment_settings set last_top_up_error = $2 where tenant_id = $1', [
    idOf(tenant),
    `The card was declined. ${HOSTILE[1]}`,
  ]);
  owner = await makeMember(app.service.deps.db, idOf(tenant), { email: 'owner@example.com' });
  await makeMember(app.service.deps.db, idOf(tenant), {
    role: 'finance',
    email: `${'long'.repeat(15)}@example.com`,
  });
});

const PAGES: Readonly<Record<string, () => string>> = {
  home: () => '/',
  overview: () => '/console',
  start: () => '/console/start',
  spend: () => '/console/spend',
  'spend by tier': () => '/console/spend?by=tier',
  ledger: () => '/console/ledger',
  'filtered ledger': () => `/console/ledger?room=${encodeURIComponent(HOSTILE[1]!)}`,
  'empty ledger': () => '/console/ledger?kind=dispute',
  charge: () => `/console/charge?id=${encodeURIComponent(charged)}`,
  statements: () => '/console/statements',
  'this month': () => `/console/statements/${new Date().toISOString().slice(0, 7)}`,
  keys: () => '/console/keys',
  revocation: () => `/console/keys/${tenant.keyId}/revoke`,
  members: () => '/console/members',
  tenants: () => '/console/tenants',
  'not found': () => '/console/nothing',
};

const SHOTS = process.env.SCREENSHOTS;

describe.each([...LOOKS, NARROWEST])('in $colorScheme on a screen of $width', (look) => {
  test.each(Object.entries(PAGES))('%s is accessible, fits, and runs no foreign text', async (name, path) => {
    const { page, complaints } = await browser.open(look);
    await page.context().addCookies([{ name: COOKIE, value: owner.secret, url: PUBLIC_URL }]);
    await page.goto(`${PUBLIC_URL}${path()}`);
    if (SHOTS) {
      mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({
        path: `${SHOTS}/${name.replaceAll(' ', '-')}-${look.width}.png`,
        fullPage: true,
      });
    }
    await expectAccessible(page);
    expect(await page.locator('main script, main img').count()).toBe(0);
    expect(await page.title()).toMatch(name === 'this month' ? /^Statement/ : / · Boxoffice$/);
    const ours = complaints.filter((each) => !/status of 404/.test(each));
    expect(ours).toEqual([]);
  });
});

describe('a page', () => {
  test.each(Object.entries(PAGES))('%s weighs at most 30 kB, with what it loads', async (_name, path) => {
    const answer = await getPage(app, path(), owner.cookie);
    const assets = [...answer.text.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)].map(
      ([, found]) => found!,
    );
    const texts = await Promise.all(assets.map(async (each) => (await getPage(app, each)).text));
    const bytes = [answer.text, ...texts].reduce((sum, text) => sum + gzipSync(text).length, 0);
    expect(bytes).toBeLessThan(30_000);
  });

  test('loads nothing that changes under its name', async () => {
    const { text } = await getPage(app, '/');
    const [, path] = /href="(\/console\/assets\/style[^"]+)"/.exec(text)!;
    const answer = await getPage(app, path!);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect((await getPage(app, path!.replace(/\.\w+\.css/, '.0.css'))).status).toBe(404);
  });
});
