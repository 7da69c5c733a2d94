import { beforeAll, describe, expect, test } from 'vitest';
import { startOf } from '../../src/money/month.ts';
import { LOOKS, overflows, PUBLIC_URL, useBrowser } from '../support/browser.ts';
import { monthsAgo, moveInTime, post } from '../support/months.ts';
import { type TestTenant, usageRecord, useService } from '../support/service.ts';
import { idOf } from '../support/tenants.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);
const MONTH = monthsAgo(2);
let tenant: TestTenant;

/** A name without a place to break it. */
const LONG = 'x'.repeat(200);

beforeAll(async () => {
  const { db } = app.service.deps;
  tenant = await app.signUp({ name: `Ada & Söhne <script>alert(1)</script> ${LONG.slice(0, 100)}` });
  const id = idOf(tenant);
  await post(db, id, { kind: 'top_up', amount: 1_234_000_000n, reference: 'pi_1', paymentId: 'pi_1' });
  await post(db, id, { kind: 'refund', amount: -5_000_000n, reference: 're_1', paymentId: 'pi_1' });
  for (const room of ['lobby', `${LONG.slice(1)}"`, '<img src=x onerror=alert(1)>', '']) {
    const records = [usageRecord({ room, seconds: 5_430, egress_bytes: 3 * 2 ** 29 })];
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records } });
  }
  const times = Array.from({ length: 6 }, (_, at) => new Date(startOf(MONTH).getTime() + at * 3_600_000));
  await moveInTime(
    db,
    id,
    times.map((time) => time.toISOString()),
  );
});

/** With the key that a back end would send. */
async function open(look: (typeof LOOKS)[number]) {
  const opened = await browser.open(look);
  await opened.page.setExtraHTTPHeaders({ authorization: `Bearer ${tenant.key}` });
  await opened.page.goto(`${PUBLIC_URL}/v1/statements/${MONTH}`);
  return opened;
}

describe.each(LOOKS)('a statement in $colorScheme on a screen of $width', (look) => {
  test('is a page of tables that say what they are, and fits', async () => {
    const { page, complaints } = await open(look);
    await page.getByRole('heading', { level: 1, name: /Statement for [A-Z][a-z]+ \d{4}$/ }).waitFor();
    const table = (name: string) => page.getByRole('table', { name, exact: true });
    const row = (of: string, name: RegExp) => table(of).getByRole('row', { name });

    expect(await row('Summary', /^Payments/).textContent()).toContain('$1,234.000000');
    expect(await row('Summary', /^Reversals/).textContent()).toContain('-$5.000000');
    expect(await row('Summary', /^Adjustments/).textContent()).toContain('$0.000000');
    expect(await row('Payments', /pi_1/).getByRole('rowheader').textContent()).toBe(`${MONTH}-01 00:00:00`);
    expect(await row('Reversals', /re_1/).textContent()).toContain('Refund');
    expect(await table('Adjustments').count()).toBe(0);
    const lobby = row('Usage by room', /^lobby/);
    expect(await lobby.getByRole('cell').allTextContents()).toEqual(['1', '90.50', '1.500', '$0.030000']);
    expect(
      await row('Usage by room', /^All rooms/)
        .getByRole('cell')
        .first()
        .textContent(),
    ).toBe('4');
    const columns = await table('Usage by room').getByRole('columnheader').allTextContents();
    expect(columns).toEqual(['Room', 'Records', 'Minutes', 'GiB sent', 'Cost']);

    expect(await overflows(page)).toBe(false);
    expect(complaints).toEqual([]);
  });

  test('shows names as texts, and runs nothing', async () => {
    const { page, complaints } = await open(look);
    expect(await page.locator('script, img, link, [style]').count()).toBe(0);
    expect(await page.textContent('dl')).toContain('Ada & Söhne <script>alert(1)</script>');
    await page.getByRole('rowheader', { name: '<img src=x onerror=alert(1)>' }).waitFor();
    await page.getByRole('rowheader', { name: 'Without a room' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('is printed dark on white, and the policy lets its style through', async () => {
    const { page, complaints } = await open(look);
    const colors = () =>
      page.evaluate(
        'Object.values((({ color, backgroundColor }) => ({ color, backgroundColor }))(getComputedStyle(document.body)))',
      );
    const isDark = look.colorScheme === 'dark';
    expect(await colors()).toEqual(
      isDark ? ['rgb(236, 238, 246)', 'rgb(16, 18, 26)'] : ['rgb(27, 32, 51)', 'rgb(245, 246, 249)'],
    );
    await page.emulateMedia({ media: 'print' });
    expect(await colors()).toEqual(['rgb(27, 32, 51)', 'rgb(255, 255, 255)']);
    for (const format of ['A4', 'Letter']) expect((await page.pdf({ format })).length).toBeGreaterThan(5_000);
    expect(complaints).toEqual([]);
  });
});
