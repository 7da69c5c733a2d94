import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ShownMail } from '../../sandbox/mailbox.ts';
import { type Sandbox, startSandbox } from '../../sandbox/server.ts';
import { newTenantId } from '../../src/base/tenants/tenant.ts';
import type { MailType } from '../../src/outward/mail/mail.ts';
import { renderMail } from '../../src/outward/mail/render-mail.ts';
import { sealSubscription } from '../../src/outward/mail/unsubscribe-token.ts';
import { LOOKS, overflows, PUBLIC_URL, useBrowser } from '../support/browser.ts';
import { useService } from '../support/service.ts';
import { idOf } from '../support/tenants.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);
const NAME = 'Ada & Söhne <script>alert(1)</script> Video';

function mailOf(type: MailType, subject: object): ShownMail {
  const event = { type, at: new Date('2026-11-22T18:00:00Z'), subject };
  const mail = { tenant: newTenantId(), tenantName: NAME, event, isLast: false };
  const links = { publicUrl: PUBLIC_URL, unsubscribeUrl: `${PUBLIC_URL}/unsubscribe/${'x'.repeat(200)}` };
  return {
    id: `mail_${type}`,
    to: 'a.very.long.address.of.somebody@mail.of.a.long.domain.example.com',
    state: 'kept',
    created: 1_795_370_400,
    error: null,
    ...renderMail(mail, links),
  };
}

const MAILS = [
  mailOf('balance_low', { balance: '4998732', below: '5000000' }),
  mailOf('top_up_failed', {
    automatic: true,
    amount: '10000000',
    paymentId: `pi_${'x'.repeat(60)}`,
    error: 'card declined',
  }),
  {
    ...mailOf('credit_spent', { balance: '-9' }),
    html: '<body><h1>Evil</h1><script>top.location = "/"</script><img src="https://evil.example/x.png"></body>',
  },
];

let sandbox: Sandbox;
let bare: Sandbox;

beforeAll(async () => {
  const options = { port: 0, secretKey: 'sk_test_of_the_mailbox', webhooks: [] };
  const find = async (id: string) => MAILS.find((mail) => mail.id === id);
  sandbox = await startSandbox({ ...options, mailbox: { list: async () => MAILS, find } });
  bare = await startSandbox(options);
});
afterAll(() => Promise.all([sandbox.close(), bare.close()]));

describe.each(LOOKS)('in $colorScheme on a screen of $width', (look) => {
  test('the page to unsubscribe works with the keyboard, and can be undone', async () => {
    const tenant = await app.signUp({ name: NAME });
    const token = sealSubscription(app.service.deps.box, {
      tenant: idOf(tenant),
      address: `${'a'.repeat(60)}@example.com`,
    });
    const { page, complaints } = await browser.open(look);
    await page.goto(`${PUBLIC_URL}/unsubscribe/${token}`);
    await page.getByRole('heading', { name: 'Unsubscribe from alerts?' }).waitFor();
    expect(await page.textContent('p')).toContain(NAME);
    expect(await overflows(page)).toBe(false);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
    const shown = await app.request('GET', '/v1/mail', { key: tenant.key });
    expect(shown.json.unsubscribed).toHaveLength(1);
    await page.getByRole('button', { name: 'Get alerts again' }).click();
    await page.getByRole('heading', { name: 'Unsubscribe from alerts?' }).waitFor();
    expect(await overflows(page)).toBe(false);
    expect(complaints).toEqual([]);
    await page.goto(`${PUBLIC_URL}/unsubscribe/nonsense`);
    await page.getByRole('heading', { name: 'This link is not valid' }).waitFor();
  });

  test('the mailbox shows mails as HTML and as text', async () => {
    const { page, complaints } = await browser.open(look);
    await page.goto(sandbox.url);
    await page.getByRole('link', { name: 'Mailbox' }).click();
    expect(await page.locator('li').count()).toBe(3);
    expect(await overflows(page)).toBe(false);
    await page.getByRole('link', { name: /balance is below/ }).click();
    const frame = page.frameLocator('iframe');
    await frame.getByRole('heading', { name: 'Your balance is below $5.00' }).waitFor();
    expect(await frame.locator('body').textContent()).toContain(NAME);
    expect(await page.textContent('pre')).toContain('Balance: $4.99 (exactly $4.998732)');
    expect(await overflows(page)).toBe(false);
    expect(complaints).toEqual([]);
    await page.goto(`${sandbox.url}/mailbox/${MAILS[1]!.id}/html`);
    expect(await overflows(page)).toBe(false);
  });

  test('a mail in the mailbox runs and loads nothing', async () => {
    const { page } = await browser.open(look);
    const answered: string[] = [];
    page.on('response', (response) => void answered.push(new URL(response.url()).host));
    await page.goto(`${sandbox.url}/mailbox/${MAILS[2]!.id}`);
    await page.frameLocator('iframe').getByRole('heading', { name: 'Evil' }).waitFor();
    expect(page.url()).toBe(`${sandbox.url}/mailbox/${MAILS[2]!.id}`);
    expect(new Set(answered)).toEqual(new Set([new URL(sandbox.url).host]));
  });
});

test('without a mailbox there is no such page, and a mail that is not there is not found', async () => {
  expect((await fetch(`${bare.url}/mailbox`)).status).toBe(404);
  expect(await (await fetch(bare.url)).text()).not.toContain('Mailbox');
  expect((await fetch(`${sandbox.url}/mailbox/mail_x`)).status).toBe(404);
  expect((await fetch(`${sandbox.url}/mailbox/mail_x/html`)).status).toBe(404);
});
