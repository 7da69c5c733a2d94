import type { CDPSession, Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { LOCAL_URL, LOOKS, useBrowser } from '../../support/browser.ts';
import { COOKIE, makeMember, sendForm, type TestMember } from '../../support/console.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectAccessible, shoot, tabTo } from './support.ts';

const app = useService({ publicUrl: LOCAL_URL });
const browser = useBrowser(app);
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

interface Device {
  readonly page: Page;
  readonly complaints: string[];
  readonly member: TestMember;
  readonly cdp: CDPSession;
  readonly authenticator: string;
}

/** A browser with an authenticator that agrees to everything, and a member who has logged in by mail. */
async function openDevice(options: { isVerified?: boolean } = {}): Promise<Device> {
  const member = await makeMember(app.service.deps.db, idOf(tenant));
  const { page, complaints } = await browser.open(LOOKS[0]!);
  await page.context().addCookies([{ name: COOKIE, value: member.secret, url: LOCAL_URL }]);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: options.isVerified ?? true,
      automaticPresenceSimulation: true,
    },
  });
  return { page, complaints, member, cdp, authenticator: authenticatorId };
}

async function addByKeyboard(page: Page, name: string): Promise<void> {
  await page.goto(`${LOCAL_URL}/console/passkeys`);
  await tabTo(page, '#name');
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await page.getByRole('rowheader', { name }).waitFor();
}

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL(`${LOCAL_URL}/`);
}

async function logInByKeyboard(page: Page): Promise<void> {
  await page.goto(`${LOCAL_URL}/console/login?next=%2Fconsole%2Fpasskeys`);
  await tabTo(page, 'form[data-passkey] button');
  await page.keyboard.press('Enter');
}

describe('a browser with an authenticator', () => {
  test('adds a passkey by keyboard, logs out, and logs in with it', async () => {
    const { page, complaints, member } = await openDevice();
    await addByKeyboard(page, 'Laptop of Ann');
    await expectAccessible(page);
    await logOut(page);
    await logInByKeyboard(page);
    await page.getByRole('rowheader', { name: 'Laptop of Ann this session' }).waitFor();
    expect(await page.getByText(member.email).count()).toBe(1);
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });

  test('is told that a passkey was removed, and a session ends with the member in another process', async () => {
    const other = await app.another();
    const owner = await makeMember(app.service.deps.db, idOf(tenant));
    const { page, member } = await openDevice();
    await addByKeyboard(page, 'Kept');
    await logOut(page);
    await logInByKeyboard(page);
    await page.getByRole('rowheader', { name: 'Kept this session' }).waitFor();
    const removed = await sendForm(
      { ...app, url: other.url, config: app.config },
      `/console/members/${member.id}/remove`,
      {},
      owner,
    );
    expect(removed.status).toBe(303);
    await page.goto(`${LOCAL_URL}/console`);
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    await logInByKeyboard(page);
    await page.getByRole('heading', { name: 'This passkey did not log you in' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
  });

  test('removes the passkey of its own session by keyboard, and is logged out', async () => {
    const { page } = await openDevice();
    await addByKeyboard(page, 'Mine');
    await logOut(page);
    await logInByKeyboard(page);
    await tabTo(page, 'button.danger');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await page.context().cookies()).toEqual([]);
    await logInByKeyboard(page);
    await page.getByRole('heading', { name: 'This passkey did not log you in' }).waitFor();
  });

  test('says what went wrong, in words, and lets the person try again', async () => {
    const { page, cdp, authenticator, complaints } = await openDevice();
    await addByKeyboard(page, 'First');
    await page.fill('#name', 'Second');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('This device, or its password manager, has one of your passkeys already.').waitFor();
    await expectAccessible(page);
    await logOut(page);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId: authenticator, isUserVerified: false });
    await logInByKeyboard(page);
    await page.getByText('There was no passkey: the question was closed, or took too long.').waitFor();
    await expectAccessible(page);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId: authenticator, isUserVerified: true });
    await page.getByRole('button', { name: 'Log in with a passkey' }).click();
    await page.getByRole('rowheader', { name: 'First this session' }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('says what the service refuses', async () => {
    const { page } = await openDevice();
    await page.route('**/console/passkeys/login/options', (route) =>
      route.fulfill({
        status: 429,
        contentType: 'text/html',
        body: '<p role="alert">Too many attempts.</p>',
      }),
    );
    await page.context().clearCookies();
    await logInByKeyboard(page);
    await page.getByText('Too many attempts.').waitFor();
  });

  test('logs in again with a passkey, and comes back to where it was', async () => {
    const { page } = await openDevice();
    await addByKeyboard(page, 'Again');
    const { db } = app.service.deps;
    await db.query(`update console_sessions set created_at = created_at - interval '11 minutes'`);
    await page.goto(`${LOCAL_URL}/console/keys`);
    await page.getByRole('link', { name: 'log in again' }).click();
    await expectAccessible(page);
    await tabTo(page, 'form[data-passkey] button');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Create' }).waitFor();
    expect(page.url()).toBe(`${LOCAL_URL}/console/keys`);
  });

  test('is led to another log-in, if the page stood open for too long', async () => {
    const { page } = await openDevice();
    await page.goto(`${LOCAL_URL}/console/passkeys`);
    const { db } = app.service.deps;
    await db.query(`update console_sessions set created_at = created_at - interval '11 minutes'`);
    await page.fill('#name', 'Late');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('heading', { name: 'Log in again to go on' }).waitFor();
    expect(page.url()).toContain('next=%2Fconsole%2Fpasskeys');
  });
});

test('without JavaScript there is no button for passkeys, and the mail stays', async () => {
  const { page } = await browser.open(LOOKS[0]!, { javaScriptEnabled: false });
  await page.goto(`${LOCAL_URL}/console/login`);
  expect(await page.getByRole('button').allTextContents()).toEqual(['Send a link']);
  const { secret } = await makeMember(app.service.deps.db, idOf(tenant));
  await page.context().addCookies([{ name: COOKIE, value: secret, url: LOCAL_URL }]);
  await page.goto(`${LOCAL_URL}/console/passkeys`);
  await page.getByText('you need JavaScript, and a browser that knows passkeys').waitFor();
  expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0);
});

describe.each(LOOKS)('in $colorScheme on a screen of $width', (look) => {
  test('the pages with passkeys are accessible, and fit', async () => {
    const { db } = app.service.deps;
    const { secret, email } = await makeMember(db, idOf(tenant));
    await db.query('insert into passkey_holders (email, handle) values ($1, sha256(convert_to($1, $2)))', [
      email,
      'UTF8',
    ]);
    for (const name of ['<script>alert(1)</script>', 'W'.repeat(100), '\u202Etxet desrever']) {
      await db.query(
        `insert into passkeys (id, email, credential, public_key, counter, transports, name, backed_up, last_used_at)
         values ('pk_' || md5($1 || $2), $1, convert_to($1 || $2, 'UTF8'), '\\x00', 0, '{}', $2, true, now())`,
        [email, name],
      );
    }
    const { page, complaints } = await browser.open(look);
    const show = async (path: string, name: string) => {
      await page.goto(`${LOCAL_URL}${path}`);
      await shoot(page, name);
      await expectAccessible(page);
    };
    await show('/console/login', 'login-with-passkeys');
    await page.context().addCookies([{ name: COOKIE, value: secret, url: LOCAL_URL }]);
    await show('/console/passkeys', 'passkeys');
    await db.query(`update console_sessions set created_at = created_at - interval '11 minutes'`);
    await show('/console/passkeys', 'old-passkeys');
    await show('/console/confirm', 'confirm-with-passkeys');
    expect(complaints).toEqual([]);
  });
});
