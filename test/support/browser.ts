/** A real browser for tests of pages: the Chromium of the machine, driven by Playwright. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { CHROMIUM_PATH } from '../../scripts/browser-path.ts';
import type { TestService } from './service.ts';

/** Restricts the browser to the pages under test. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The relays of tests listen on the loopback address.
  '--disable-features=WebRtcHideLocalIpsWithMdns',
];

export interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

/** Every page is tested in a light desktop and a dark phone layout. */
const DESKTOP: Look = { colorScheme: 'light', width: 1200 };
export const PHONE: Look = { colorScheme: 'dark', width: 390 };
export const LOOKS = [DESKTOP, PHONE] as const;

/** The narrowest screen that pages are made for. Source: WCAG 2.2, 1.4.10. */
export const NARROWEST_PX = 320;

export interface TestBrowser {
  /** A page for the calling test, and the errors that the browser reported on it. */
  open(look: Look, options?: BrowserContextOptions): Promise<{ page: Page; complaints: string[] }>;
}

/** The host name of the service in the browser, whatever address it listens on. */
export const PUBLIC_URL = 'http://service.test';

/** A host name at which a browser knows passkeys without TLS. */
export const LOCAL_URL = 'http://localhost';

/** That of the operators' console, as `bareConfig` has it. */
export const OPS_URL = 'http://ops.test';

/** Call it after `useService({ publicUrl: PUBLIC_URL })`, or `LOCAL_URL`. */
export function useBrowser(app: TestService): TestBrowser {
  let browser: Browser;

  beforeAll(async () => {
    const { port, opsPort } = app.service;
    const ours = ['service.test', 'localhost'].map((name) => `MAP ${name} 127.0.0.1:${port}`).join();
    const rules = `--host-resolver-rules=${ours},MAP ops.test 127.0.0.1:${opsPort}`;
    browser = await chromium.launch({ executablePath: CHROMIUM_PATH!, args: [...ARGUMENTS, rules] });
  });
  afterAll(async () => {
    await browser?.close();
  });

  return {
    open: async ({ colorScheme, width }, options = {}) => {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width, height: 800 },
        // A colour that is still changing is in no look.
        reducedMotion: 'reduce',
        ...options,
      });
      // Pages that stay open go on taking time.
      onTestFinished(() => context.close());
      // As with tests: a busy machine is no fault.
      context.setDefaultTimeout(300_000);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      return { page, complaints };
    },
  };
}

/** Whether the page is wider than the screen. */
export function overflows(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}
