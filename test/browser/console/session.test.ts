import { describe, expect, test } from 'vitest';
import { timeOf } from '../../../src/doors/consoles/components.ts';
import { LOOKS, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, makeMailLog, makeMember } from '../../support/console.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const mails = makeMailLog();
const app = useService({ publicUrl: PUBLIC_URL, log: mails.log });
const browser = useBrowser(app);

async function logIn(options: { javaScriptEnabled?: boolean; timezoneId?: string } = {}) {
  const tenant = await app.paidTenant();
  const { secret, email } = await makeMember(app.service.deps.db, idOf(tenant));
  const { page, complaints } = await browser.open(LOOKS[0]!, options);
  await page.context().addCookies([{ name: COOKIE, value: secret, url: PUBLIC_URL }]);
  return { tenant, email, page, complaints };
}

describe('a browser', () => {
  test('logs in by the link of a mail, and finds nothing behind the back button after the log-out', async () => {
    const tenant = await app.paidTenant();
    const email = 'back-button@example.com';
    await makeMember(app.service.deps.db, idOf(tenant), { email });
    const { page, complaints } = await browser.open(LOOKS[1]!);
    await page.goto(`${PUBLIC_URL}/console/ledger`);
    await page.fill('#email', email);
    await page.getByRole('button', { name: 'Send a link' }).click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    await page.goto(`${PUBLIC_URL}${await mails.linkTo(email)}`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Ledger' }).waitFor();
    expect(page.url()).toBe(`${PUBLIC_URL}/console/ledger`);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(`${PUBLIC_URL}/`);
    await page.goBack();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await page.content()).not.toContain(tenant.id);
    expect(complaints).toEqual([]);
  });

  test('asks for another log-in before it changes keys, and comes back to them', async () => {
    const { page, email } = await logIn();
    const { db } = app.service.deps;
    await db.query(`update console_sessions set created_at = created_at - interval '11 minutes'`);
    await page.goto(`${PUBLIC_URL}/console/keys`);
    expect(await page.getByRole('button', { name: 'Create' }).count()).toBe(0);
    await page.getByRole('link', { name: 'log in again' }).click();
    await page.getByRole('button', { name: `Send a link to ${email}` }).click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    await page.goto(`${PUBLIC_URL}${await mails.linkTo(email)}`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Create' }).waitFor();
    expect(page.url()).toBe(`${PUBLIC_URL}/console/keys`);
  });

  test('finds what was typed in the form again after another log-in, without JavaScript', async () => {
    const { page, email } = await logIn({ javaScriptEnabled: false });
    await page.goto(`${PUBLIC_URL}/console/keys`);
    await page.fill('#name', 'edge');
    await page.selectOption('#kind', 'backend');
    const { db } = app.service.deps;
    await db.query(`update console_sessions set created_at = created_at - interval '11 minutes'`);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('What you typed is kept').waitFor();
    await page.getByRole('button', { name: `Send a link to ${email}` }).click();
    await page.goto(`${PUBLIC_URL}${await mails.linkTo(email)}`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Here is what you typed. It is not saved yet.').waitFor();
    expect([await page.inputValue('#name'), await page.inputValue('#kind')]).toEqual(['edge', 'backend']);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'The key is created' }).waitFor();
  });

  test('shows times in its own zone, with UTC on hover, and counts down to the end of a key', async () => {
    const { page, tenant } = await logIn({ timezoneId: 'Asia/Tokyo' });
    await app.request('POST', `/v1/keys/${tenant.relayKeyId}/rotate`, { key: tenant.key });
    await page.goto(`${PUBLIC_URL}/console/keys`);
    const time = page.locator('time:not([data-until])').first();
    const at = new Date((await time.getAttribute('datetime'))!);
    const shown = (moment: Date) => />(.*)</.exec(timeOf(moment).text)![1];
    expect([await time.textContent(), await time.getAttribute('title')]).toEqual([
      shown(new Date(at.getTime() + 9 * 3_600_000)),
      `${shown(at)} UTC`,
    ]);
    expect(await page.locator('time[data-until]').textContent()).toMatch(/^in 23:59:\d\d$/);
  });

  test('without JavaScript it filters the ledger, creates, rotates and revokes keys', async () => {
    const { page, tenant } = await logIn({ javaScriptEnabled: false });
    const record = {
      id: 'no-script',
      role: 'host',
      tier: 'hd',
      room: 'stage',
      seconds: 60,
      egress_bytes: 1,
      ingress_bytes: 1,
    };
    await app.request('POST', '/v1/usage', { key: tenant.relayKey, body: { records: [record] } });
    await page.goto(`${PUBLIC_URL}/console/ledger`);
    await page.selectOption('#kind', 'usage');
    await page.fill('#room', 'stage');
    await page.getByRole('button', { name: 'Filter' }).click();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.getByRole('link', { name: /^Why/ }).click();
    await page.getByRole('heading', { name: 'How this charge came about' }).waitFor();

    await page.goto(`${PUBLIC_URL}/console/keys`);
    await page.fill('#name', 'made without a script');
    await page.getByRole('button', { name: 'Create' }).click();
    expect(await page.textContent('#key')).toMatch(/^svc_/);
    await page.getByRole('link', { name: 'Back to the keys' }).click();
    await page.getByRole('button', { name: 'Rotate made without a script' }).click();
    expect(await page.textContent('#key')).toMatch(/^svc_/);
    await page.getByRole('link', { name: 'Back to the keys' }).click();
    await page.getByRole('link', { name: 'Revoke made without a script' }).first().click();
    await page.fill('#confirm', 'revoke');
    await page.getByRole('button', { name: 'Revoke the key' }).click();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    expect(await page.getByText('revoked', { exact: true }).count()).toBe(1);
  });
});
