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

describe.each(LOOKS)('a customer in $colorScheme on a screen of $width', (look) => {
  test('pays with the keyboard alone and comes back to a page that says so', async () => {
    const { tenant, url } = await openCheckout();
    const { page, complaints } = await browser.open(look);
    await page.goto(url);
    expect(await page.textContent('body')).toContain('$12.34');
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
    expect(text).toContain('Your payment of $12.34 was received');
    expect(text).not.toContain(tenant.id);
    expect(await overflows(page)).toBe(false);
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
