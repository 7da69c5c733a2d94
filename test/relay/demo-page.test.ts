/** The page of `npm run demo:video`: what people press there, with a keyboard, on a phone, with a camera. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStand, type Stand } from '../../demo/stand.ts';
import { findPerson, hostState, openBrowser, Visitor } from '../../demo/visitor.ts';
import { Opened } from '../../src/run/lifetime.ts';
import { expectAccessible, tabTo } from '../browser/console/support.ts';
import { PHONE } from '../support/browser.ts';

const PHONE_LOOK = {
  colorScheme: PHONE.colorScheme,
  viewport: { width: PHONE.width, height: 780 },
  reducedMotion: 'reduce',
} as const;

const opened = new Opened();
let stand: Stand;
let host: Visitor;
let guest: Visitor;
let open: (path: string, look?: object) => Promise<Visitor>;

beforeAll(async () => {
  stand = await openStand(opened, { host: '127.0.0.1', port: 0 });
  const camera = ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'];
  const browser = await openBrowser(opened, camera);
  open = (path, look = {}) => Visitor.open(browser, stand, path, look);
});
afterAll(() => opened.closeAll());

const focused = ({ page }: Visitor) => page.evaluate('document.activeElement.id');

test('without scripts the page says what it needs', async () => {
  const { page } = await open('/', { javaScriptEnabled: false });
  expect(await page.locator('main').innerText()).toContain('This page needs JavaScript');
});

test('a keyboard signs up, pays, opens a room and joins it; the focus goes on to the next step', async () => {
  host = await open('/', { reducedMotion: 'reduce' });
  const { page } = host;
  const { keyboard } = page;
  await tabTo(page, '#do-sign-up');
  await expectAccessible(page);
  await keyboard.press('Enter');
  await expect.poll(() => focused(host)).toBe('do-pay');
  await host.pay();
  await expect.poll(() => focused(host)).toBe('do-open');
  await keyboard.press('Enter');
  await expect.poll(() => focused(host)).toBe('username');
  await expectAccessible(page);
  await keyboard.press('Enter');
  await host.joined('ann');
  await expect.poll(() => focused(host)).toBe('link');
});

test('a guest joins by the link on a phone, with a camera', async () => {
  const link = (await hostState(stand)).link!;
  await host.page.evaluate(`globalThis.said = [];
    new MutationObserver(() => said.push(announcer.textContent)).observe(announcer, { childList: true })`);
  guest = await open(link, PHONE_LOOK);
  await guest.page.getByLabel('Camera and microphone').check();
  await expectAccessible(guest.page);
  expect(await guest.page.getByLabel('Your name').inputValue()).toBe('bob');
  await guest.join('bob');
  await expect
    .poll(async () => (await findPerson(stand, 'ann'))?.counts)
    .toMatchObject({ width: 640, frames: expect.any(Number) });
  await expectAccessible(guest.page);
  await host.page.setViewportSize(PHONE_LOOK.viewport);
  await expectAccessible(host.page);
});

test('screen readers are told of who came, and of the balance', async () => {
  const said = () => host.page.evaluate('said');
  await expect.poll(said).toEqual(expect.arrayContaining(['bob has joined']));
  await expect.poll(said).toEqual(expect.arrayContaining([expect.stringMatching(/The balance is \$19/)]));
});

test('what is charged is taken from the balance, live', async () => {
  const { balance } = await hostState(stand);
  await expect.poll(() => host.page.locator('#balance').innerText()).not.toBe(balance);
});

describe('another browser', () => {
  test('cannot be a second host, and is told so', async () => {
    const { page } = await open('/');
    await page.getByText('Another browser has signed up here').waitFor();
    expect(await page.getByRole('button', { name: 'Sign up' }).isVisible()).toBe(false);
  });

  test.each(['kick', 'mute', 'end', 'room'])('may not %s', async (name) => {
    const ask = `fetch('/demo/${name}', { method: 'POST', headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'ann' }) }).then(({ status }) => status)`;
    expect(await guest.page.evaluate(ask)).toBe(403);
  });

  test('learns neither the balance nor a key', async () => {
    const ask = `fetch('/demo/state', { method: 'POST', headers: { 'content-type': 'application/json' },
      body: '{}' }).then((answer) => answer.json())`;
    expect(await guest.page.evaluate(ask)).toEqual({ isTaken: true, people: [] });
  });
});

describe('further windows of one browser', () => {
  async function enter(username: string) {
    const page = await host.page.context().newPage();
    await page.goto(stand.url + (await hostState(stand)).link);
    await page.getByLabel('Nothing: only watch').check();
    await page.getByLabel('Your name').fill(username);
    await page.getByRole('button', { name: 'Join', exact: true }).click();
    return page;
  }

  test('who only watches sees the others, and a page that was loaded again goes on counting', async () => {
    const page = await enter('eve');
    const pictures = page.locator('dd.picture', { hasText: 'a second' });
    await expect.poll(() => pictures.count()).toBe(2);
    const received = async () => (await findPerson(stand, 'eve'))?.counts?.received ?? 0;
    await expect.poll(received).toBeGreaterThan(50_000);
    await page.close();
    const before = await received();
    const again = await enter('eve');
    await expect.poll(received).toBeGreaterThan(before);

    const third = await enter('guest-4');
    expect(await third.getByRole('alert').innerText()).toContain('no connections left');
    await third.close();
    await again.close();
  });
});

test('who is kicked reads why, and may join again', async () => {
  await host.press('Kick: bob');
  await guest.page.getByText('The host has removed you from the room.').waitFor();
  await expect.poll(async () => (await findPerson(stand, 'bob'))?.isPresent).toBe(false);
  await guest.join('bob');
  await expect.poll(async () => (await findPerson(stand, 'bob'))?.isPresent).toBe(true);
});

test('the host ends the room, and a new one has a new link', async () => {
  const { link } = await hostState(stand);
  await host.press('End the room');
  await guest.page.getByText('The host has ended the room.').waitFor();
  expect((await fetch(stand.url + link)).status).toBe(404);
  await host.press('Open a room');
  await expect.poll(async () => (await hostState(stand)).link ?? link).not.toBe(link);
});

test('a link that leads nowhere says so', async () => {
  const { page } = await open('/with/unknown');
  expect(await page.locator('h1').innerText()).toBe('This link leads to no open room');
  await expectAccessible(page);
});
