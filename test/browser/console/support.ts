/** What tests of the console's pages share. */
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Picture } from '../../../scripts/screenshots/pictures.ts';
import { LOOKS, NARROWEST_PX, overflows, PHONE } from '../../support/browser.ts';

/**
 * Automatic checks of WCAG 2.2, levels A and AA, and that nothing is wider than the screen. The narrowest screen has the
 * layout of a phone, so there only the width is checked: the other checks take a second of a processor.
 */
export async function expectAccessible(page: Page): Promise<void> {
  await expectNoViolations(page);
  const size = page.viewportSize()!;
  expect(await overflows(page), `wider than a screen of ${size.width}`).toBe(false);
  if (size.width !== PHONE.width) return;
  await page.setViewportSize({ ...size, width: NARROWEST_PX });
  // A chart is drawn again for a screen that has changed.
  await expect.poll(() => overflows(page), { message: `wider than a screen of ${NARROWEST_PX}` }).toBe(false);
  await page.setViewportSize(size);
}

/** The routes of pages that none of these paths opens. */
export function routesWithoutPath(pictures: readonly Picture[], paths: readonly string[]): string[] {
  const opens = (path: string, route: string) =>
    new RegExp(`^${route.replace(/:\w+/g, '[^/?]+')}(\\?|$)`).test(path);
  return pictures.map(({ route }) => route).filter((route) => !paths.some((path) => opens(path, route)));
}

/** The same in every look, after one load. */
export async function expectAccessibleInAllLooks(page: Page, name: string): Promise<void> {
  for (const { colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 800 });
    await shoot(page, name);
    await expectAccessible(page);
  }
}

/** Keeps a picture in the folder SCREENSHOTS, if that is set. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  const file = `${name.replaceAll(' ', '-')}-${page.viewportSize()!.width}.png`;
  await page.screenshot({ path: join(folder, file), fullPage: true });
}

async function expectNoViolations(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze();
  const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  expect(found, `on a screen of ${page.viewportSize()!.width}`).toEqual([]);
}

/** Press Tab until the element has the focus. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  const wanted = page.locator(selector).first();
  await wanted.waitFor();
  for (let presses = 0; presses < 60; presses += 1) {
    if (await wanted.evaluate((node) => node.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${selector} cannot be reached with the keyboard`);
}
