import { RoomService } from '@boxoffice/contract/room_service';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { mint, newStage, type Stage } from '../../control/moderation/support.ts';
import { LOOKS, PUBLIC_URL, useBrowser } from '../../support/browser.ts';
import { COOKIE, makeMember, sendForm } from '../../support/console.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectAccessible, tabTo } from './support.ts';

const app = useService({ publicUrl: PUBLIC_URL });
const controlOf = useControl(app);
const browser = useBrowser(app);
let stage: Stage;

beforeAll(async () => {
  stage = await newStage(app, controlOf);
});

async function logIn(look = LOOKS[0]!, options: { javaScriptEnabled?: boolean } = {}) {
  const member = await makeMember(app.service.deps.db, idOf(stage.tenant), { role: 'moderator' });
  const { page, complaints } = await browser.open(look, options);
  await page.context().addCookies([{ name: COOKIE, value: member.secret, url: PUBLIC_URL }]);
  return { member, page, complaints };
}

describe('events', () => {
  test('appear by themselves, with the participants, and stop with the session', async () => {
    const { member, page, complaints } = await logIn();
    const streams: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/console/rooms/events')) streams.push(request.url());
    });
    await page.goto(`${PUBLIC_URL}/console/rooms/at/lobby`);
    await page.getByText('New events appear by themselves.').waitFor();
    await mint(stage, '<img/src=x>');
    await page.locator('#feed li').filter({ hasText: '<img/src=x> entered lobby' }).waitFor();
    await page.locator('#room a').filter({ hasText: '<img/src=x>' }).waitFor();
    await expectAccessible(page);
    expect(await page.locator('main img').count()).toBe(0);
    expect(streams).toHaveLength(1);
    await sendForm(app, '/console/logout', {}, member);
    await mint(stage, 'after-the-end');
    await page.getByText('Your session is over.').waitFor();
    expect(await page.content()).not.toContain('after-the-end');
    expect(complaints).toEqual([]);
  });

  test('do not take the place of who is in a list with the keyboard', async () => {
    const { page } = await logIn();
    await stage.control.call(RoomService.method.createRoom, { room: 'focus' });
    await mint(stage, 'first', { room: 'focus' });
    await page.goto(`${PUBLIC_URL}/console/rooms/at/focus`);
    await page.getByText('New events appear by themselves.').waitFor();
    await page.locator('#room a').first().focus();
    await mint(stage, 'second', { room: 'focus' });
    await page.locator('#feed li').filter({ hasText: 'second entered' }).waitFor();
    expect(
      await page
        .locator('#room a')
        .first()
        .evaluate((node) => node.matches(':focus')),
    ).toBe(true);
  });
});

describe.each(LOOKS)('in $colorScheme on a screen of $width', (look) => {
  test('a moderator mutes, bans and ends a room with the keyboard alone', async () => {
    const room = `keys-${look.width}`;
    await stage.control.call(RoomService.method.createRoom, { room });
    await mint(stage, 'zoe', { room });
    const { page, complaints } = await logIn(look);
    await page.goto(`${PUBLIC_URL}/console/rooms`);
    await tabTo(page, `a[href="/console/rooms/at/${room}"]`);
    await page.keyboard.press('Enter');
    await tabTo(page, '#room a');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'zoe' }).waitFor();
    await tabTo(page, '#mute-reason');
    await page.keyboard.type('noise');
    await page.keyboard.press('Enter');
    await page.getByText('audio muted').waitFor();
    await tabTo(page, '#ban-reason');
    await page.keyboard.type('again');
    await page.keyboard.press('Enter');
    await page.getByText('left: banned').waitFor();
    await page.goto(`${PUBLIC_URL}/console/rooms/at/${room}`);
    await tabTo(page, 'summary');
    await page.keyboard.press('Enter');
    await tabTo(page, '#confirm');
    await page.keyboard.type('end');
    await page.keyboard.press('Enter');
    await page.getByText('ended', { exact: true }).waitFor();
    await expectAccessible(page);
    expect(complaints).toEqual([]);
  });
});

test.each(LOOKS)('the desk of a room has a line a person, on a screen of $width', async (look) => {
  const room = `desk-${look.width}-${look.colorScheme}`;
  await stage.control.call(RoomService.method.createRoom, { room });
  for (let at = 0; at < 29; at += 1) await mint(stage, `guest-with-a-rather-long-name-${at}`, { room });
  const { page, complaints } = await logIn(look);
  await page.goto(`${PUBLIC_URL}/console/rooms/at/${room}`);
  const rows = await page.locator('#room tbody tr').all();
  expect(rows).toHaveLength(29);
  for (const row of rows) expect((await row.boundingBox())!.height).toBeLessThan(60);
  await page.locator('#room tbody tr').first().getByRole('button', { name: 'Mute' }).click();
  await page.getByText('audio of guest-with-a-rather-long-name-0 is muted.').waitFor();
  await page.locator('#room tbody tr').first().getByRole('button', { name: 'Unmute' }).waitFor();
  await expectAccessible(page);
  expect(complaints).toEqual([]);
});

test.each([
  { ...LOOKS[0]!, javaScriptEnabled: true },
  { ...LOOKS.at(-1)!, javaScriptEnabled: false },
])(
  'the desk opens again at its row, with what was done and a way back: $width, script $javaScriptEnabled',
  async (look) => {
    const room = `rows-${look.width}`;
    await stage.control.call(RoomService.method.createRoom, { room });
    for (let at = 10; at < 50; at += 1) await mint(stage, `guest-${at}`, { room });
    const { page, complaints } = await logIn(look, look);
    await page.goto(`${PUBLIC_URL}/console/rooms/at/${room}?search=guest`);
    const expectAt = async (name: string, told: string) => {
      await page.getByText(told).waitFor();
      const row = page.locator('tr:focus');
      expect(await row.locator('th').textContent()).toBe(name);
      for (const shown of ['tr:focus', '.done']) await expect.poll(() => isInView(page, shown)).toBe(true);
      expect(page.url()).toBe(`${PUBLIC_URL}/console/rooms/at/${room}?search=guest#row-${name}`);
    };
    const press = (name: string, button: string) =>
      page.locator(`#row-${name}`).getByRole('button', { name: button }).click();
    await press('guest-30', 'Mute');
    await expectAt('guest-30', 'audio of guest-30 is muted.');
    await press('guest-30', 'Ban');
    await expectAt('guest-31', `guest-30 is banned from ${room} for 1 day.`);
    if (look.javaScriptEnabled) await expectAccessible(page);
    await page.getByRole('button', { name: 'Undo' }).click();
    await expectAt('guest-31', 'guest-30 may join again.');
    await mint(stage, 'guest-30', { room });
    if (look.javaScriptEnabled) {
      await page.locator('#row-guest-30').waitFor();
      await expectAt('guest-31', 'guest-30 may join again.');
    }
    expect(complaints).toEqual([]);
  },
);

/** Whether all of it is on the screen, and nothing lies over it. */
async function isInView(page: Page, shown: string): Promise<boolean> {
  const { x, y, height } = (await page.locator(shown).boundingBox())!;
  const place = `${x + 20}, ${y + height / 2}`;
  const isOnTop = await page.evaluate(`!!document.elementFromPoint(${place})?.closest('${shown}')`);
  return y >= 0 && y + height <= page.viewportSize()!.height && isOnTop === true;
}

test('rooms are moderated without JavaScript', async () => {
  await stage.control.call(RoomService.method.createRoom, { room: 'plain' });
  await mint(stage, 'zack', { room: 'plain' });
  const { page } = await logIn(LOOKS[0]!, { javaScriptEnabled: false });
  await page.goto(`${PUBLIC_URL}/console/rooms/at/plain`);
  await page.getByText('Reload the page to see newer ones.').waitFor();
  await page.getByRole('link', { name: 'zack' }).click();
  await page.getByLabel('Reason').nth(1).fill('rude');
  await page.getByRole('button', { name: 'Kick' }).click();
  await page.getByText('left: kicked').waitFor();
  await page.goto(`${PUBLIC_URL}/console/rooms/bans`);
  await page.fill('#subject', 'zack');
  await page.getByRole('button', { name: 'Ban', exact: true }).click();
  await page.getByRole('button', { name: 'Lift the ban of zack' }).click();
  await expect.poll(() => page.getByRole('button', { name: 'Lift the ban of zack' }).count()).toBe(0);
});
