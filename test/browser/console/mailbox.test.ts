/** A clone without a mail server: what is mailed is read in the sandbox's mailbox. */
import { describe, expect, test } from 'vitest';
import { LOOKS, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { useService } from '../../support/service.ts';
import { expectAccessible } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL, hasMailbox: true });
const browser = useBrowser(app);

describe.each(LOOKS)('without a mail server, in $colorScheme on a screen of $width', (look) => {
  test('a person signs up, logs out, and joins by the link in the mailbox', async () => {
    const email = `offline-${look.width}@example.com`;
    const { page, complaints } = await browser.open(look);
    await page.goto(`${PUBLIC_URL}/console/signup`);
    await page.fill('#name', 'Ada Video');
    await page.fill('#email', email);
    await page.getByRole('button', { name: 'Sign up' }).click();
    await page.getByRole('heading', { name: 'Getting started' }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL(`${PUBLIC_URL}/`);

    await page.goto(`${PUBLIC_URL}/console/login`);
    await page.fill('#email', email);
    await page.getByRole('button', { name: 'Send a link' }).click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'mailbox' }).click();
    const mail = page.getByRole('listitem').filter({ hasText: email });
    // The mail may still be on its way.
    await expect
      .poll(async () => {
        await page.reload();
        return mail.getByText('kept').count();
      })
      .toBe(1);
    await mail.getByRole('link', { name: 'Log in to Boxoffice' }).click();

    const opening = page.waitForEvent('popup');
    await page.frameLocator('iframe').getByRole('link', { name: 'Log in' }).click();
    const opened = await opening;
    await opened.getByRole('heading', { name: 'Ada Video was signed up with your address' }).waitFor();
    await expectAccessible(opened);
    await opened.getByRole('button', { name: 'Join Ada Video' }).click();
    await opened.waitForURL(`${PUBLIC_URL}/console`);
    await opened.getByRole('heading', { name: 'Ada Video' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
