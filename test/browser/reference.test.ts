import { AxeBuilder } from '@axe-core/playwright';
import { describe, expect, test } from 'vitest';
import { LOOKS, overflows, PUBLIC_URL, useBrowser } from '../support/browser.ts';
import { useService } from '../support/service.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);

describe.each(LOOKS)('the reference in $colorScheme on a screen of $width', (look) => {
  test('lists the routes and lets one be tried, from its own address alone', async () => {
    const { page, complaints } = await browser.open(look);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!/^(data:|http:\/\/service\.test\/)/.test(request.url())) elsewhere.push(request.url());
    });
    await page.goto(`${PUBLIC_URL}/docs/rest`);

    await page.getByText('The rate card in effect').click();
    await page.getByRole('button', { name: 'Try it out' }).click();
    await page.getByRole('button', { name: 'Execute' }).click();
    await page.locator('.live-responses-table').getByText('platform_fee_per_gib').first().waitFor();

    expect(await overflows(page)).toBe(false);
    expect(elsewhere).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('opens the operation that the address names', async () => {
    const { page } = await browser.open(look);
    await page.goto(`${PUBLIC_URL}/docs/rest#/Billing/getBilling`);
    await page.locator('#operations-Billing-getBilling.is-open').waitFor();
  });
});

describe.each([...LOOKS, { ...LOOKS[1]!, width: 1200 }])(
  'its doors in $colorScheme on a screen of $width',
  (look) => {
    test('are accessible, in the look of the reader, with a way back', async () => {
      const { page, complaints } = await browser.open(look);
      await page.goto(`${PUBLIC_URL}/docs/rest`);
      await page.getByText('The rate card in effect').waitFor();
      const { violations } = await new AxeBuilder({ page })
        .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
        .exclude('#swagger-ui')
        .analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      const isDark = await page.evaluate(`document.documentElement.classList.contains('dark-mode')`);
      expect(isDark).toBe(look.colorScheme === 'dark');
      for (const door of ['REST', 'Joining', 'Control plane', 'Webhooks', 'Console', 'Operators']) {
        await page.locator('.doors').getByRole('heading', { name: door, exact: true }).waitFor();
      }
      expect(complaints).toEqual([]);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${PUBLIC_URL}/`);
    });
  },
);
