import type { Page } from 'playwright-core';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { LOOKS, OPS_URL, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, makeMember } from '../../support/console.ts';
import { startIssuer, verified } from '../../support/issuer.ts';
import { begin, LOGIN_COOKIE } from '../../support/issuer-login.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectAccessible, shoot, tabTo } from './support.ts';

const issuer = await startIssuer({ operatorsGroup: 'operators' });
const app = useService({ publicUrl: PUBLIC_URL, oidc: issuer.config });
const browser = useBrowser(app);
let tenants = 0;

afterEach(() => {
  issuer.groups.length = 0;
});
afterAll(async () => {
  await issuer.close();
});

async function member(minutesAgo = 0): Promise<{ email: string; secret: string; tenant: TestTenant }> {
  const tenant = await app.paidTenant();
  tenants += 1;
  const email = `oidc-${tenants}@example.com`;
  const { secret } = await makeMember(app.service.deps.db, idOf(tenant), { email, minutesAgo });
  return { email, secret, tenant };
}

/** The page of the issuer, with the keyboard. */
async function allow(page: Page, email: string): Promise<void> {
  await page.getByRole('heading', { name: 'Log in to Example ID' }).waitFor();
  await tabTo(page, '#email');
  await page.keyboard.type(email);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
}

describe.each([true, false])('with JavaScript: %s', (javaScriptEnabled) => {
  test('a member logs in with the keyboard alone, and reaches the page that was asked for', async () => {
    const { email } = await member();
    const { page, complaints } = await browser.open(LOOKS[1]!, { javaScriptEnabled });
    await page.goto(`${PUBLIC_URL}/console/ledger?kind=usage`);
    await tabTo(page, 'button:has-text("Log in with Example ID")');
    await page.keyboard.press('Enter');
    await allow(page, email);
    await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    expect(page.url()).toBe(`${PUBLIC_URL}/console/ledger?kind=usage`);
    const cookies = await page.context().cookies(PUBLIC_URL);
    expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual([
      [COOKIE, true, 'Lax'],
    ]);
    expect(complaints).toEqual([]);
  });

  test('an operator logs in with the keyboard alone', async () => {
    issuer.groups.push('operators');
    const { page, complaints } = await browser.open(LOOKS[1]!, { javaScriptEnabled });
    await page.goto(`${OPS_URL}/console`);
    await tabTo(page, 'button:has-text("Log in with Example ID")');
    await page.keyboard.press('Enter');
    await allow(page, 'grace@example.com');
    await page.getByText('grace@example.com').waitFor();
    expect(page.url()).toBe(`${OPS_URL}/console`);
    expect(complaints).toEqual([]);
  });

  test('a member logs in again before changing keys, and comes back to them', async () => {
    const { email, secret } = await member(11);
    const { page } = await browser.open(LOOKS[0]!, { javaScriptEnabled });
    await page.context().addCookies([{ name: COOKIE, value: secret, url: PUBLIC_URL }]);
    await page.goto(`${PUBLIC_URL}/console/keys`);
    await page.getByRole('link', { name: 'log in again' }).click();
    await tabTo(page, 'button:has-text("Log in again with Example ID")');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Log in to Example ID' }).waitFor();
    expect(await page.inputValue('#email')).toBe(email);
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('button', { name: 'Create' }).waitFor();
    expect(page.url()).toBe(`${PUBLIC_URL}/console/keys`);
  });
});

test('an answer of the issuer that another site hands on logs nobody in', async () => {
  const { email } = await member();
  const { page } = await browser.open(LOOKS[0]!);
  const attacker = await begin(app);
  const back = issuer.logIn(attacker.url, verified(email));
  await page.goto(`${issuer.url}/`);
  await page.evaluate(`location.href = ${JSON.stringify(back.href)}`);
  await page.getByRole('heading', { name: 'This log-in cannot be finished' }).waitFor();
  expect(await page.context().cookies(PUBLIC_URL)).toEqual([]);
});

test('a log-in that failed leaves no cookie of it behind, and leads back to the log-in', async () => {
  const { page } = await browser.open(LOOKS[0]!);
  await page.goto(`${PUBLIC_URL}/console/login`);
  await page.getByRole('button', { name: 'Log in with Example ID' }).click();
  await allow(page, 'stranger@example.com');
  await page.getByRole('heading', { name: 'This address is not that of a member' }).waitFor();
  expect((await page.context().cookies(PUBLIC_URL)).filter(({ name }) => name === LOGIN_COOKIE)).toEqual([]);
  await page.getByRole('main').getByRole('link', { name: 'log in' }).click();
  await page.getByRole('heading', { name: 'Log in', exact: true }).waitFor();
});

test.each(LOOKS)('pages in $colorScheme on a screen of $width can be used by each reader', async (look) => {
  const { secret } = await member(11);
  const { page } = await browser.open(look);
  const show = async (name: string) => {
    await shoot(page, name);
    await expectAccessible(page);
  };
  await page.goto(`${PUBLIC_URL}/console/login`);
  await show('oidc-login');
  await page.getByRole('button', { name: 'Log in with Example ID' }).click();
  await allow(page, `${'long'.repeat(15)}@example.com`);
  await page.getByRole('heading', { name: 'This address is not that of a member' }).waitFor();
  await show('oidc-stranger');
  await page.goto(`${PUBLIC_URL}/console/login/oidc/callback?state=x`);
  await show('oidc-stale');
  await page.context().addCookies([{ name: COOKIE, value: secret, url: PUBLIC_URL }]);
  await page.goto(`${PUBLIC_URL}/console/confirm?next=/console/keys`);
  await show('oidc-confirm');
  await page.goto(`${OPS_URL}/console/login`);
  await show('oidc-operator');
});
