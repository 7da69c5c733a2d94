import { describe, expect, test } from 'vitest';
import { LOOKS, overflows, PUBLIC_URL, useBrowser } from '../support/browser.ts';
import { useService } from '../support/service.ts';
import { expectAccessibleInAllLooks, tabTo } from './console/support.ts';

const app = useService({ publicUrl: PUBLIC_URL, payments: false });
const browser = useBrowser(app);

test.each(['/docs', '/docs/concepts', '/docs/usage'])(
  '%s is accessible in each look, and loads nothing from elsewhere',
  async (path) => {
    const { page, complaints } = await browser.open(LOOKS[0]);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${PUBLIC_URL}/`)) elsewhere.push(request.url());
    });
    await page.goto(PUBLIC_URL + path);
    await expectAccessibleInAllLooks(page, path.slice(1).replaceAll('/', '-'));
    expect([elsewhere, complaints]).toEqual([[], []]);
  },
);

describe('the search', () => {
  test('finds a section by keyboard alone', async () => {
    const { page, complaints } = await browser.open(LOOKS[0]);
    await page.goto(`${PUBLIC_URL}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('record costs');
    await page.getByRole('link', { name: 'Reporting usage: What a record costs' }).waitFor();
    expect(await page.getByRole('status').textContent()).toMatch(/place/);
    await tabTo(page, '#found a[href="/docs/usage#what-a-record-costs"]');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${PUBLIC_URL}/docs/usage#what-a-record-costs`);
    expect(complaints).toEqual([]);
  });

  test('says that there is nothing, and ends with Escape', async () => {
    const { page } = await browser.open(LOOKS[1]);
    await page.goto(`${PUBLIC_URL}/docs`);
    await page.getByRole('searchbox').fill('xyzzy');
    await page.getByText('Nothing found.').waitFor();
    expect(await overflows(page)).toBe(false);
    await page.keyboard.press('Escape');
    expect(await page.locator('#found').isVisible()).toBe(false);
  });
});

test('a page is complete without scripts, and offers no search', async () => {
  const { page } = await browser.open(LOOKS[1], { javaScriptEnabled: false });
  await page.goto(`${PUBLIC_URL}/docs/usage`);
  expect(await page.getByRole('searchbox').count()).toBe(0);
  await page.getByRole('heading', { name: 'What a record costs' }).waitFor();
  await page.getByText('For operators', { exact: true }).click();
  await page.getByRole('link', { name: 'Procedures', exact: true }).click();
  await page.getByRole('heading', { name: 'Signing keys' }).waitFor();
});
