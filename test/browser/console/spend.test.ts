import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { LOOKS, NARROWEST_PX, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, getPage, makeMember, type TestMember } from '../../support/console.ts';
import { usageRecord, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectAccessible, shoot, tabTo } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);

let owner: TestMember;
let keyId: string;

/** Usage of seven rooms, with other amounts in each of the last 120 hours. */
beforeAll(async () => {
  const { db } = app.service.deps;
  const tenant = await app.paidTenant({ cents: 100_000 });
  owner = await makeMember(db, idOf(tenant));
  const rooms = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', '<b>zeta</b>', 'eta'];
  const records = rooms.map((room) => usageRecord({ room, egress_bytes: 10_000_000_000, seconds: 86_000 }));
  const answer = await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  expect(answer.status, answer.text).toBe(200);
  await vi.waitFor(async () => {
    const { rows } = await db.query('select count(*) from usage_deltas');
    expect(rows[0].count).toBe(0n);
  });
  for (const table of ['usage_hours', 'usage_room_hours']) {
    const { rows: columns } = await db.query(
      `select column_name as name from information_schema.columns where table_name = $1`,
      [table],
    );
    const names = columns.map(({ name }) => name);
    const values = names.map((name) =>
      name === 'hour'
        ? `hour - n * interval '1 hour'`
        : name === 'amount'
          ? 'amount * (n * 7919 % 23 + 1)'
          : name,
    );
    await db.query(
      `insert into ${table} (${names.join(', ')}) select ${values.join(', ')} from ${table}, generate_series(1, 119) n`,
    );
  }
  keyId = tenant.keyId;
  await keepSums(idOf(tenant), keyId);
});

/** Half of each day is of sessions: of two participants, one key and one customer, and some without. */
async function keepSums(tenant: TenantId, keyId: string): Promise<void> {
  const groups = { p: ['ann', '<i>bob</i>'], k: [keyId], c: ['acme', ''] };
  for (const [kind, names] of Object.entries(groups)) {
    for (const part of ['day', 'month']) {
      await app.service.deps.db.query(
        `insert into session_sums (tenant_id, kind, part, start, name, records, seconds, egress_bytes, ingress_bytes, amount, unbilled)
         select tenant_id, $2::"char", $3::"char", date_trunc($4, hour, 'UTC'), name, sum(records), sum(seconds), 0, 0,
                sum(div(amount, 2 * cardinality($5::text[]))), 0
           from usage_hours, unnest($5::text[]) as n (name) where tenant_id = $1 group by 1, 4, 5`,
        [tenant, kind, part[0], part, names],
      );
    }
  }
}

test.each(LOOKS)(
  'spend by key, participant and customer, in $colorScheme on a screen of $width',
  async (look) => {
    const { page, complaints } = await open(look, '/console/spend?by=key');
    await shoot(page, 'spend-by-key');
    expect(await page.locator('#spend thead').textContent()).toContain(`(${keyId})`);
    expect(await page.locator('main').textContent()).toMatch(
      /Of all others, \$[\d.,]+ belongs to no session/,
    );
    await expectAccessible(page);
    const total = await totalOf(page);
    await page.selectOption('#by', 'participant');
    await page.selectOption('#every', 'hour');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('Sums by participant are of days.').waitFor();
    expect(await page.locator('#spend thead th').allTextContents()).toEqual([
      'Day (UTC)',
      '<i>bob</i>',
      'ann',
      'All others',
      'All',
    ]);
    expect(await totalOf(page)).toBe(total);
    await shoot(page, 'spend-by-participant');
    await page.selectOption('#by', 'customer');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.getByText('Without a customer').first().waitFor();
    expect(complaints).toEqual([]);
  },
);

async function open(
  look: (typeof LOOKS)[number],
  path: string,
  options: { javaScriptEnabled?: boolean } = {},
) {
  const { page, complaints } = await browser.open(look, options);
  await page.context().addCookies([{ name: COOKIE, value: owner.secret, url: PUBLIC_URL }]);
  await page.goto(`${PUBLIC_URL}${path}`);
  return { page, complaints };
}

const shownRows = (page: Page) => page.locator('#spend tbody tr:visible').count();
const totalOf = (page: Page) => page.locator('#spend tfoot td').last().textContent();

/** What the rows that are shown add up to. */
async function sumOfRows(page: Page): Promise<bigint> {
  const texts = await page.locator('#spend tbody tr:visible td:last-child').allTextContents();
  return texts.reduce((sum, text) => sum + BigInt(text.replace(/\D/g, '')), 0n);
}

describe.each(LOOKS)('in $colorScheme on a screen of $width', (look) => {
  test('the chart is zoomed with the keyboard alone, and the table shows the same', async () => {
    const { page, complaints } = await open(look, '/console/spend?every=hour&by=room');
    expect(await page.locator('script[src*="plot"]').count()).toBe(0);
    await shoot(page, 'spend-bars');
    const all = await shownRows(page);
    const total = await totalOf(page);
    await tabTo(page, '#chart button');
    await page.keyboard.press('Enter');
    await page.locator('#chart canvas').waitFor();
    expect(await page.locator('#chart svg[role=img]').isVisible()).toBe(false);
    await shoot(page, 'spend-chart');

    await page.keyboard.press('Enter');
    await expect.poll(() => shownRows(page)).toBeLessThan(all);
    const part = await totalOf(page);
    expect(BigInt(part!.replace(/\D/g, ''))).toBe(await sumOfRows(page));
    expect(await page.locator('#chart [role=status]').textContent()).toContain(`${part} from`);
    await shoot(page, 'spend-zoomed');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Everything' }).press('Enter');
    await expect.poll(() => shownRows(page)).toBe(all);
    expect(await totalOf(page)).toBe(total);
    expect(complaints).toEqual([]);
  });
});

test('on a phone, the table has a line for each day, and the parts of their sum', async () => {
  const look = { ...LOOKS[1]!, width: NARROWEST_PX };
  const { page, complaints } = await open(look, '/console/spend?by=room');
  const rows = await page.locator('#spend tbody tr').all();
  expect(rows.length).toBeGreaterThan(3);
  for (const row of rows) expect((await row.boundingBox())!.height).toBeLessThan(40);
  const foot = page.locator('#spend tfoot');
  for (const room of ['alpha', 'eta'])
    expect(await foot.locator(`[data-label="${room}"]`).isVisible()).toBe(true);
  const scrolls = await page
    .locator('.scroll:has(#spend)')
    .evaluate((node) => node.scrollWidth > node.clientWidth);
  expect(scrolls).toBe(false);
  await expectAccessible(page);
  expect(complaints).toEqual([]);
});

test('a range is chosen with the mouse, and in the fields of the form', async () => {
  const { page, complaints } = await open(LOOKS[0]!, '/console/spend?by=tier');
  await page.getByRole('button', { name: 'Zoom' }).click();
  const over = page.locator('.u-over');
  await over.waitFor();
  const all = await shownRows(page);
  const box = (await over.boundingBox())!;
  await page.mouse.move(box.x + box.width * 0.9, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => shownRows(page)).toBeLessThan(all);
  expect(BigInt((await totalOf(page))!.replace(/\D/g, ''))).toBe(await sumOfRows(page));
  const chosen = await page.inputValue('#from');

  await page.getByRole('button', { name: 'Everything' }).click();
  await expect.poll(() => shownRows(page)).toBe(all);
  const today = new Date().toISOString().slice(0, 10);
  await page.fill('#from', today);
  await page.locator('#from').dispatchEvent('change');
  await expect.poll(() => shownRows(page)).toBe(1);
  expect(await page.inputValue('#from')).toBe(today);
  expect(chosen < today).toBe(true);
  expect(complaints).toEqual([]);
});

test('without JavaScript there are bars, the table and the form', async () => {
  const { page, complaints } = await open(LOOKS[1]!, '/console/spend', { javaScriptEnabled: false });
  expect(await page.locator('#chart rect[fill="url(#p0)"]').count()).toBeGreaterThan(1);
  expect(await page.locator('#chart button').count()).toBe(0);
  await page.selectOption('#every', 'hour');
  await page.selectOption('#by', 'role');
  await page.getByRole('button', { name: 'Show' }).click();
  await page.getByText('Spend by hour and role').waitFor();
  expect(await shownRows(page)).toBeGreaterThan(24);
  expect(complaints).toEqual([]);
});

test('a page of all hours weighs at most 30 kB without the chart, which loads what never changes', async () => {
  const { text } = await getPage(app, '/console/spend?every=hour', owner.cookie);
  const assets = [...text.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  const texts = await Promise.all(assets.map(async (path) => (await getPage(app, path)).text));
  const bytes = [text, ...texts].reduce((sum, each) => sum + gzipSync(each).length, 0);
  expect(bytes).toBeLessThan(30_000);
  const charts = [...text.matchAll(/data-(?:script|style)="([^"]+)"/g)].map(([, path]) => path!);
  expect(charts).toHaveLength(2);
  for (const path of charts) {
    const answer = await getPage(app, path);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([
      200,
      'public, max-age=31536000, immutable',
    ]);
  }
});
