import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { LOOKS, overflows, PUBLIC_URL, useBrowser } from '../support/browser.ts';
import { useService } from '../support/service.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);

async function openCheckout() {
  const tenant = await app.signUp();
  const { json } = await app.request('POST', '/v1/billing/checkout', {
    key: tenant.key,
    body: { amount_cents: 1234 },
  });
  return { tenant, url: json.checkout_url as string };
}

/** The links lead to operations that the reference has. */
async function expectOnward(page: Page): Promise<void> {
  const [console, ...links] = await page
    .locator('nav a')
    .evaluateAll((all) => all.map((each) => each.getAttribute('href')!));
  const { paths } = (await app.request('GET', '/openapi.json')).json;
  const operations = Object.values<Record<string, { tags: string[]; operationId: string }>>(paths)
    .flatMap((item) => Object.values(item))
    .map(({ tags, operationId }) => `/docs/rest#/${encodeURIComponent(tags[0]!)}/${operationId}`);
  expect(console).toBe('/console');
  expect(links).toHaveLength(3);
  expect(operations).toEqual(expect.arrayContaining(links));
}

describe.each(LOOKS)('a customer in $colorScheme on a screen of $width', (look) => {
  test('pays with the keyboard alone and comes back to a page that says so', async () => {
    const { tenant, url } = await openCheckout();
    const { page, complaints } = await browser.open(look);
    await page.goto(url);
    expect(await page.textContent('body')).toContain('$12.34');
    expect(await page.textContent('.items')).toContain('Prepaid credit');
    expect(await overflows(page)).toBe(false);

    const pay = page.getByRole('button', { name: /^pay/i }).first();
    for (
      let presses = 0;
      presses < 40 && !(await pay.evaluate((node) => node.matches(':focus')));
      presses += 1
    ) {
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(`${PUBLIC_URL}/checkout/**`);
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();

    const text = await page.textContent('main');
    expect(text).toContain('Your payment was received, and your balance has grown by $12.34.');
    expect(text).not.toContain(tenant.id);
    await expectOnward(page);
    expect(await overflows(page)).toBe(false);
    expect(complaints).toEqual([]);
  });

  test('is told that the new balance is on its way while the provider has not reported', async () => {
    const { url } = await openCheckout();
    app.sandbox.control.fault({ effect: 'drop', count: 40 });
    const { page, complaints } = await browser.open(look);
    await page.goto(url);
    await page.getByRole('button', { name: /^pay/i }).first().click();
    await page.getByRole('heading', { name: 'Your new balance is on its way' }).waitFor();
    expect(await page.textContent('main')).toContain(
      'We add $12.34 as soon as the payment provider confirms',
    );
    await expectOnward(page);
    expect(await overflows(page)).toBe(false);
    app.sandbox.control.clearFaults();
    expect(complaints).toEqual([]);
  });

  test('cancels and sees that nothing was charged', async () => {
    const { tenant, url } = await openCheckout();
    const { page, complaints } = await browser.open(look);
    await page.goto(url);
    await page
      .getByRole('link', { name: /cancel/i })
      .or(page.getByRole('button', { name: /cancel/i }))
      .click();
    await page.getByRole('heading', { name: 'The payment was canceled' }).waitFor();
    await expectOnward(page);
    expect(await overflows(page)).toBe(false);

    const billing = await app.request('GET', '/v1/billing', { key: tenant.key });
    expect(billing.json.balance.micros).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('comes back from the portal to a page that says so', async () => {
    const tenant = await app.paidTenant();
    const { json } = await app.request('POST', '/v1/billing/portal', { key: tenant.key });
    const { page, complaints } = await browser.open(look);
    await page.goto(json.portal_url);
    await page
      .getByRole('link', { name: /back|return/i })
      .first()
      .click();
    await page.getByRole('heading', { name: 'All done' }).waitFor();
    expect(page.url()).toBe(`${PUBLIC_URL}/portal/closed`);
    expect(await overflows(page)).toBe(false);
    expect(complaints).toEqual([]);
  });

  test('sees an error for an incomplete address', async () => {
    const { page } = await browser.open(look);
    const answer = await page.goto(`${PUBLIC_URL}/checkout/co_unknown`);
    expect(answer?.status()).toBe(404);
    expect(await page.textContent('h1')).toBe('There is no such payment');
  });
});
