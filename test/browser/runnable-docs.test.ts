/** Every marked block of the documents is run from its page, and what comes is what the page shows. */
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { BLOCKS, type Block, PAGES } from '../docs/blocks.ts';
import { masked, maskedValue } from '../docs/masks.ts';
import { LOCAL_URL, LOOKS, useBrowser } from '../support/browser.ts';
import { useService } from '../support/service.ts';
import { expectAccessibleInAllLooks, tabTo } from './console/support.ts';

// Browsers make keys at this host without TLS.
const app = useService({ publicUrl: LOCAL_URL, hasMailbox: true });
const browser = useBrowser(app);

const TUTORIAL = '/docs/readme';
const isMarked = ({ info }: Block) => /^\w+ run\b/.test(info);
const BUTTONS = 'pre[data-run] + .run button';

/** Press the button, and wait until its line says what came. */
async function press(button: Locator): Promise<string> {
  await button.click();
  const told = button.locator('xpath=..').getByRole('status');
  await expect.poll(() => told.textContent()).toMatch(/^(?!Running)./);
  return (await told.textContent())!;
}

/** The answers under a button. */
function answersOf(button: Locator): Promise<string[]> {
  return button.locator('xpath=../following-sibling::div[1]').locator('pre').allTextContents();
}

/** Pay on the page that the first step leads to. */
async function pay(page: Page): Promise<void> {
  const link = page.getByRole('link', { name: 'Pay on this page' });
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
  app.sandbox.control.pay(/cs_test_\w+/.exec((await link.getAttribute('href'))!)![0], {
    card: '4242424242424242',
  });
  await app.settled();
}

const UNKNOWN_KEY = `svc_0123456789abcdef_${'a'.repeat(43)}`;

test('every marked block is on the tutorial', () => {
  expect(BLOCKS.filter(isMarked).length).toBeGreaterThanOrEqual(6);
  expect(PAGES.filter((page) => BLOCKS.some((block) => block.page === page && isMarked(block)))).toEqual([
    'README.md',
  ]);
});

describe('the tutorial', () => {
  test('runs each step with the values of those before it, by keyboard, from its own origin alone', async () => {
    const { page, complaints } = await browser.open(LOOKS[0]);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${LOCAL_URL}/`)) elsewhere.push(request.url());
    });
    await page.goto(LOCAL_URL + TUTORIAL);
    const buttons = page.locator(BUTTONS);
    const blocks = BLOCKS.filter(({ page: path }) => path === 'README.md');
    const marked = blocks.filter(isMarked);
    expect(await buttons.count()).toBe(marked.length);
    await tabTo(page, BUTTONS);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Pay on this page' }).waitFor();
    await pay(page);
    for (const [index, block] of marked.entries()) {
      const button = buttons.nth(index);
      const isSession = /sessions\?/.test(block.text);
      // The first has been pressed. Usage is assigned to its session a moment after its charge.
      if (index > 0) {
        await expect
          .poll(async () => {
            expect(await press(button)).toBe('Done. The answer is below.');
            return (await answersOf(button)).join('');
          })
          .toMatch(isSession ? /"records": 2/ : /./);
      }
      const shown = blocks[blocks.indexOf(block) + 1]!;
      const last = (await answersOf(button)).at(-1)!;
      if (shown.notes.json?.endsWith(' request')) continue;
      if (shown.language === 'json') {
        expect(maskedValue(JSON.parse(last)), block.where).toEqual(maskedValue(JSON.parse(shown.text)));
      } else {
        const lines = (await answersOf(button)).map((text) => JSON.stringify(JSON.parse(text)));
        expect(masked(lines.join('\n')), block.where).toBe(masked(shown.text.trim()));
      }
    }
    await expectAccessibleInAllLooks(page, 'docs-run');
    // On a busy machine, a step may have been pressed again.
    expect([elsewhere, complaints.filter((text) => !text.includes('status of 503'))]).toEqual([[], []]);
  });

  test('fills its examples with the key of the reader, also those that a terminal runs, and forgets it', async () => {
    const tenant = await app.paidTenant();
    const { page } = await browser.open(LOOKS[1]);
    await page.goto(LOCAL_URL + TUTORIAL);
    const code = page.locator('article pre code');
    const before = await code.allTextContents();
    await page.getByLabel('Your API key').fill(` ${tenant.key} `);
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.getByText('The examples have your key.').waitFor();
    expect(await page.getByLabel('Your API key').inputValue()).toBe('');
    expect(await press(page.locator(BUTTONS).nth(1))).toBe('Done. The answer is below.');
    const filled = (await code.allTextContents()).join('\n');
    expect(filled).toContain(`KEY=${tenant.key}          # yours`);
    expect(filled).toContain(`TENANT=${tenant.id}             # yours`);
    expect(filled).toContain(`${LOCAL_URL}/v1/billing`);
    await page.getByRole('button', { name: 'Forget it' }).click();
    expect(await page.content()).not.toContain(tenant.key);
    expect(await press(page.locator(BUTTONS).nth(1))).toBe('Run step 1 first, or paste your key above.');
    expect(await code.allTextContents()).toEqual(before);
  });

  test('keeps the key in its memory alone', async () => {
    const tenant = await app.paidTenant();
    const { page } = await browser.open(LOOKS[0]);
    const addresses: string[] = [];
    page.on('request', (request) => addresses.push(request.url(), request.postData() ?? ''));
    await page.goto(LOCAL_URL + TUTORIAL);
    await page.getByLabel('Your API key').fill(tenant.key);
    await page.keyboard.press('Enter');
    for (const index of [1, 3]) await press(page.locator(BUTTONS).nth(index));
    expect(page.url()).toBe(LOCAL_URL + TUTORIAL);
    expect(addresses.join('\n')).not.toContain(tenant.key.slice(-43));
    const kept = await page.evaluate(`(async () => JSON.stringify([
      { ...localStorage }, { ...sessionStorage }, document.cookie, name, history.state, await caches.keys(),
      await indexedDB.databases(),
    ]))()`);
    expect(kept).toBe('[{},{},"","",null,[],[]]');
    // The page is left, and shown again by the back button as it was.
    expect(await page.content()).toContain(tenant.key);
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`);
    expect(await page.content()).not.toContain(tenant.key);
    await page.reload();
    expect(await page.getByLabel('Your API key').inputValue()).toBe('');
  });

  test('takes nothing from its address', async () => {
    const { page, complaints } = await browser.open(LOOKS[0]);
    const sent: string[] = [];
    page.on('request', (request) => void (request.url().includes('/v1/') && sent.push(request.url())));
    const key = UNKNOWN_KEY;
    const query = new URLSearchParams({
      KEY: key,
      key,
      own_key: key,
      'own-key': key,
      url: 'http://ops.test',
    });
    await page.goto(`${LOCAL_URL}${TUTORIAL}?${query}#KEY=${key}`);
    expect(await page.locator('article').innerText()).not.toContain(key);
    expect(await page.getByLabel('Your API key').inputValue()).toBe('');
    expect(await press(page.locator(BUTTONS).nth(1))).toBe('Run step 1 first, or paste your key above.');
    expect([sent, complaints]).toEqual([[], []]);
  });

  test('says what the service refuses, and shows what it said as text', async () => {
    const { page } = await browser.open(LOOKS[0]);
    await page.goto(LOCAL_URL + TUTORIAL);
    const field = page.getByLabel('Your API key');
    const use = page.getByRole('button', { name: 'Use it' });
    await field.fill('a key"\r\nx: y');
    await use.click();
    await page.getByText('That is not an API key.').waitFor();
    await field.fill(UNKNOWN_KEY);
    await use.click();
    const button = page.locator(BUTTONS).nth(1);
    expect(await press(button)).toBe('The service refused this: 401. Its answer is below.');
    // A page that answers in the place of the service, and would like to be more than text.
    const bad = {
      checkout_url: 'javascript:alert(1)',
      tenant: '"><img src=x onerror=alert(1)>',
      api_key: 'a\r\nb',
    };
    await page.route('**/v1/signup', (route) => route.fulfill({ json: bad }));
    const first = page.locator(BUTTONS).first();
    await press(first);
    expect(JSON.parse((await answersOf(first))[0]!)).toEqual(bad);
    expect(await page.locator('.answers a, .answers img').count()).toBe(0);
    expect((await page.locator('article pre code').allTextContents()).join('')).not.toContain(
      'TENANT="><img',
    );
  });

  test('follows no redirect, and sends no cookie', async () => {
    const tenant = await app.paidTenant();
    const { page } = await browser.open(LOOKS[0]);
    await page.context().addCookies([{ name: 'session', value: 'x', url: LOCAL_URL }]);
    await page.goto(LOCAL_URL + TUTORIAL);
    await page.getByLabel('Your API key').fill(tenant.key);
    await page.keyboard.press('Enter');
    const asked = page.waitForRequest('**/v1/billing');
    await page.route('**/v1/billing', (route) =>
      route.fulfill({ status: 302, headers: { location: 'http://ops.test/v1/billing' } }),
    );
    expect(await press(page.locator(BUTTONS).nth(1))).toMatch(/fetch/);
    expect((await (await asked).allHeaders()).cookie).toBeUndefined();
  });
});

test('without scripts the page is complete, and has no button', async () => {
  const { page } = await browser.open(LOOKS[1], { javaScriptEnabled: false });
  await page.goto(LOCAL_URL + TUTORIAL);
  await page.getByText('curl -s http://127.0.0.1:8080/v1/signup').waitFor();
  expect(await page.locator('article').getByRole('button').count()).toBe(0);
  expect(await page.getByLabel('Your API key').count()).toBe(0);
});
