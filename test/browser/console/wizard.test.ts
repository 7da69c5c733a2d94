import { describe, expect, test } from 'vitest';
import { LOOKS, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { useService } from '../../support/service.ts';
import { expectAccessible, tabTo } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);

async function reportUsage(key: string): Promise<void> {
  const record = {
    id: `wizard-${key.slice(-8)}`,
    role: 'host',
    tier: 'hd',
    room: 'lobby',
    participant: 'ann',
  };
  const sizes = { seconds: 60, egress_bytes: 50_000_000, ingress_bytes: 1_000_000 };
  const answer = await app.request('POST', '/v1/usage', {
    key,
    body: { records: [{ ...record, ...sizes }] },
  });
  expect(answer.json.charged).toBe(1);
}

describe.each(LOOKS)('the wizard in $colorScheme on a screen of $width', (look) => {
  test('leads from the signup to the first usage, with the keyboard alone', async () => {
    const { page, complaints } = await browser.open(look);
    await page.goto(PUBLIC_URL);
    await expectAccessible(page);
    await tabTo(page, 'main a[href="/console/signup"]');
    await page.keyboard.press('Enter');

    await tabTo(page, '#name');
    await expectAccessible(page);
    await page.keyboard.type('Ada Video');
    await tabTo(page, '#email');
    await page.keyboard.type(`wizard-${look.width}@example.com`);
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Getting started' }).waitFor();
    await expectAccessible(page);
    await tabTo(page, '#dollars');
    await page.keyboard.press('Enter');

    await page.waitForURL(/\/c\/pay\//);
    await page.getByRole('button', { name: /^pay/i }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    await tabTo(page, 'a[href="/console"]');
    await page.keyboard.press('Enter');

    await page.getByText('Your balance is $20.00.').waitFor();
    await expectAccessible(page);
    await tabTo(page, 'form[action="/console/start/keys"] button');
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Your keys' }).waitFor();
    await expectAccessible(page);
    const relayKey = (await page.textContent('#relay-key'))!;
    expect(await page.textContent('#first-usage')).toContain(`RELAY=${relayKey}`);
    await reportUsage(relayKey);
    // The page notices by itself.
    await page.getByText('The first usage has arrived.').waitFor();
    await page.goto(`${PUBLIC_URL}/console`);
    expect(await page.textContent('main')).not.toContain('Getting started');
    await expectAccessible(page);
    expect(await page.content()).not.toContain(relayKey);
    expect(complaints).toEqual([]);
  });
});

test('the wizard works without JavaScript', async () => {
  const { page } = await browser.open(LOOKS[0]!, { javaScriptEnabled: false });
  await page.goto(`${PUBLIC_URL}/console/signup`);
  await page.fill('#name', 'Bob Video');
  await page.fill('#email', 'no-script@example.com');
  await page.click('main button');
  await page.fill('#dollars', '12.50');
  await page.click('form[action="/console/checkout"] button');
  await page.waitForURL(/\/c\/pay\//);
  await page.getByRole('button', { name: /^pay/i }).first().click();
  await page.getByRole('heading', { name: 'Thank you' }).waitFor();
  await page.click('a[href="/console"]');
  await page.getByText('Your balance is $12.50.').waitFor();
  await page.click('form[action="/console/start/keys"] button');
  await reportUsage((await page.textContent('#relay-key'))!);
  await page.goto(`${PUBLIC_URL}/console/start`);
  await page.getByText('The first usage has arrived.').waitFor();
});
