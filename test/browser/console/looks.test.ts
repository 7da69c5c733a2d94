/** Pages before the log-in; Windows' high contrast; that nothing moves when the script shows local times; wide screens; paper. */
import { beforeAll, describe, expect, test } from 'vitest';
import { LOOKS, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { type TestTenant, usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectAccessible } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);
const DESKTOP = LOOKS[0]!;

let tenant: TestTenant;
let owner: TestMember;
let stale: TestMember;
let link: string;

beforeAll(async () => {
  tenant = await app.paidTenant();
  await app.request('POST', '/v1/usage', {
    key: tenant.relayKey,
    body: { records: [usageRecord({ room: 'lobby' })] },
  });
  await app.request('POST', `/v1/keys/${tenant.relayKeyId}/rotate`, { key: tenant.key });
  owner = await makeMember(app.service.deps.db, idOf(tenant));
  stale = await makeMember(app.service.deps.db, idOf(tenant), { minutesAgo: 11 });
  const made = await app.request('POST', '/console/session', { key: tenant.key });
  link = new URL(made.json.url).pathname;
});

async function open(look: Parameters<typeof browser.open>[0], path: string, who?: TestMember, options = {}) {
  const { page } = await browser.open(look, options);
  if (who) await page.context().addCookies([{ name: COOKIE, value: who.secret, url: PUBLIC_URL }]);
  await page.goto(PUBLIC_URL + path);
  return page;
}

describe.each(LOOKS)('in $colorScheme on a screen of $width', (look) => {
  test.each(['/', '/console/signup', '/console/login'])(
    '%s is accessible without a session',
    async (path) => {
      await expectAccessible(await open(look, path));
    },
  );

  test('the page of an error is accessible, with the navigation', async () => {
    const page = await open(look, '/console/keys/0123456789abcdef', owner);
    await page.getByRole('link', { name: 'Go to Keys' }).waitFor();
    await expectAccessible(page);
  });

  test('the page of a link is accessible', async () => {
    await expectAccessible(await open(look, link));
  });

  test('a second log-in is accessible', async () => {
    const page = await open(look, '/console/confirm', stale);
    expect(new URL(page.url()).pathname).toBe('/console/confirm');
    await expectAccessible(page);
  });

  test('a form with faults is accessible', async () => {
    const answer = await sendForm(app, '/console/signup', { name: '', email: 'x' });
    expect(answer.status).toBe(400);
    const page = await open(look, '/console/signup');
    await page.locator('main button').click();
    await page.locator('[aria-invalid=true]').first().waitFor();
    await expectAccessible(page);
  });

  test('a form with faults comes back with the focus in its first wrong field, below links to each', async () => {
    const page = await open(look, '/console/signup', undefined, { javaScriptEnabled: false });
    await page.locator('#name').fill('Theatre');
    await page.locator('main button').click();
    await page.locator('#email[aria-invalid=true]:focus').waitFor();
    await page.locator('#name').focus();
    await page.locator('main [role=alert] a').click();
    await page.locator('#email:focus').waitFor();
  });
});

describe('with forced colors', () => {
  test.each(['/console', '/console/keys', '/console/spend', '/console/members'])(
    '%s keeps the edges of its controls',
    async (path) => {
      const page = await open(DESKTOP, path, owner, { forcedColors: 'active' });
      await page.emulateMedia({ forcedColors: 'active' });
      const controls =
        'main button:not(.plain, [hidden]), main .button, main input:not([type=hidden]), main select';
      const widths = (await page.evaluate(
        `[...document.querySelectorAll('${controls}')].map((each) => parseFloat(getComputedStyle(each).borderTopWidth))`,
      )) as number[];
      expect(widths.length).toBeGreaterThan(0);
      for (const width of widths) expect(width).toBeGreaterThanOrEqual(1);
      const edges = (await page.evaluate(
        `[...document.querySelectorAll('.badge, .top nav a[aria-current]')].map((each) =>
          [getComputedStyle(each).borderTopColor, getComputedStyle(each.parentElement).backgroundColor])`,
      )) as [string, string][];
      for (const [edge, ground] of edges) expect(edge).not.toBe(ground);
    },
  );
});

test.each(['/console', '/console/keys', '/console/ledger'])(
  '%s does not move when the script shows times in the zone of the reader',
  async (path) => {
    // In Tokyo it is 1 December: a shorter text.
    await app.service.deps.db.query(`update api_keys set created_at = '2026-11-30T17:20:00Z'`);
    const { page } = await browser.open(DESKTOP, { timezoneId: 'Asia/Tokyo' });
    await page.context().addCookies([{ name: COOKIE, value: owner.secret, url: PUBLIC_URL }]);
    // As on a slow line: the page is seen before its script runs.
    const painted = Promise.withResolvers<void>();
    await page.route('**/*.js*', async (route) => {
      await painted.promise;
      await route.continue();
    });
    await page.goto(PUBLIC_URL + path, { waitUntil: 'commit' });
    await page.locator('main time').first().waitFor();
    // `page.waitForFunction()` may not: once it asks again, the page's policy refuses what it evaluates.
    const isPainted = `document.readyState !== 'loading' && performance.getEntriesByName('first-contentful-paint').length > 0`;
    await expect.poll(() => page.evaluate(isPainted), { timeout: 60_000 }).toBe(true);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    // On a busy machine, what comes late may move what came before it.
    const paintedAt = await page.evaluate('performance.now()');
    painted.resolve();
    await page.waitForLoadState('load');
    const shift = await page.evaluate(`new Promise((resolve) => {
      let sum = 0;
      new PerformanceObserver((list) => { for (const { value, startTime } of list.getEntries()) if (startTime > ${paintedAt}) sum += value; })
        .observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => resolve(sum), 300);
    })`);
    expect(shift).toBeLessThan(0.001);
    const [time] = await page.locator('main time').all();
    expect((await time!.getAttribute('title'))!.slice(0, 16)).not.toBe(await time!.textContent());
  },
);

test('a screen of 2560 px does not stretch the content', async () => {
  const page = await open({ ...DESKTOP, width: 2560 }, '/console/ledger', owner);
  const box = await page.locator('main').boundingBox();
  expect(box!.width).toBeLessThanOrEqual(1440);
  expect(Math.round(box!.x * 2 + box!.width)).toBe(2560);
});

test('on paper there is no navigation, no button and no form', async () => {
  const page = await open(DESKTOP, '/console/ledger', owner);
  await page.emulateMedia({ media: 'print' });
  for (const hidden of ['.top', 'footer', '.filters', 'main button']) {
    expect([hidden, await page.locator(hidden).first().isVisible()]).toEqual([hidden, false]);
  }
  expect(await page.locator('main table').first().isVisible()).toBe(true);
});
