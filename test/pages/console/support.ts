/** What tests of the console's pages share. */
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { NARROWEST, overflows } from '../../support/browser.ts';

/**
 * Automatic checks of WCAG 2.2, levels A and AA, and that nothing is wider than the screen. The narrowest screen has the
 * layout of a phone, so there only the width is checked: the other checks take a second of a processor.
 */
export async function expectAccessible(page: Page): Promise<void> {
  if (page.viewportSize()?.width !== NARROWEST.width) await expectNoViolations(page);
  expect(await overflows(page)).toBe(false);
}

async function expectNoViolations(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ resultTypes: ['violations'] })
    .withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])
    .analyze();
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
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
