import { describe, expect, test } from 'vitest';
import { LOOKS, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, makeMember } from '../../support/console.ts';
import { useReceiver } from '../../support/receiver.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectAccessible, tabTo } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const browser = useBrowser(app);
const receiver = useReceiver();

async function logIn(look = LOOKS[0]!, options: { javaScriptEnabled?: boolean } = {}) {
  const tenant = await app.paidTenant();
  const { secret } = await makeMember(app.service.deps.db, idOf(tenant));
  const { page, complaints } = await browser.open(look, options);
  await page.context().addCookies([{ name: COOKIE, value: secret, url: PUBLIC_URL }]);
  return { tenant, page, complaints };
}

describe.each(LOOKS)('in $colorScheme on a screen of $width', (look) => {
  test('a webhook is made, tried and paused with the keyboard alone', async () => {
    const { page, complaints } = await logIn(look);
    await page.goto(`${PUBLIC_URL}/console/webhooks`);
    await tabTo(page, '#url');
    await page.keyboard.type('nowhere');
    await page.keyboard.press('Enter');
    await page.locator('#url-fault').waitFor();
    await expectAccessible(page);

    await page.fill('#url', receiver.url(`/keyboard-${look.width}`));
    await tabTo(page, 'summary');
    await page.keyboard.press('Enter');
    await tabTo(page, '#type_balance_low');
    await page.keyboard.press('Space');
    await tabTo(page, 'form[action="/console/webhooks"] button');
    await page.keyboard.press('Enter');
    expect(await page.textContent('#secret')).toMatch(/^whsec_/);
    await expectAccessible(page);

    await tabTo(page, 'main a.button');
    await page.keyboard.press('Enter');
    await tabTo(page, 'form[action$="/test"] button');
    await page.keyboard.press('Enter');
    await page.getByText('was delivered').waitFor();
    await expectAccessible(page);
    await tabTo(page, 'form[action$="/pause"] button');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await expectAccessible(page);
    expect(complaints.filter((each) => !/status of 400/.test(each))).toEqual([]);
  });
});

test('the pages of settings work without JavaScript', async () => {
  const { page, tenant } = await logIn(LOOKS[1]!, { javaScriptEnabled: false });
  await page.goto(`${PUBLIC_URL}/console`);
  await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Alerts' }).click();
  await page.selectOption('#kind', 'runway');
  await page.fill('#below', '24');
  await page.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('button', { name: 'Remove 24 hours of usage' }).waitFor();

  await page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'Mail' }).click();
  await page.fill('#address1', 'ops@example.com');
  await page.uncheck('#receipts');
  await page.getByRole('button', { name: 'Save' }).click();
  expect(await page.inputValue('#address1')).toBe('ops@example.com');
  expect(await page.isChecked('#receipts')).toBe(false);

  await page.goto(`${PUBLIC_URL}/console/top-up`);
  await page.check('#enabled');
  await page.fill('#below', '5');
  await page.fill('#amount', '25');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('$25.00').waitFor();

  await page.goto(`${PUBLIC_URL}/console/devices`);
  await page.fill('#name', 'door camera');
  await page.getByRole('button', { name: 'Create' }).click();
  expect(await page.textContent('#credential')).toMatch(/^dev_/);
  await page.getByRole('link', { name: 'Back to the devices' }).click();
  await page.getByRole('link', { name: 'Revoke door camera' }).click();
  await page.getByRole('button', { name: 'Revoke the credential' }).click();
  expect(await page.getByText('revoked', { exact: true }).count()).toBe(1);

  await page.goto(`${PUBLIC_URL}/console/audit`);
  for (const action of [
    'device credential revoked',
    'auto top up changed',
    'mail settings changed',
    'alerts changed',
  ]) {
    await page.getByRole('cell', { name: action }).first().waitFor();
  }
  expect(await page.content()).not.toContain(tenant.key);
});
