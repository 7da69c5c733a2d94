/** A visitor of the demo in a browser of its own, who presses what people press. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { CHROMIUM_PATH } from '../scripts/browser-path.ts';
import type { Opened } from '../src/run/lifetime.ts';
import type { Stand } from './stand.ts';
import type { HostState, Person } from './state.ts';

const WITHIN_MS = 120_000;
const ASK_EVERY_MS = 100;

/** Fails if the machine has no Chromium. */
export function requireChromium(): void {
  if (CHROMIUM_PATH === undefined)
    throw new Error('this needs Chromium: install it, or set CHROMIUM_PATH to one');
}

/** `further`: arguments of Chromium. */
export async function openBrowser(opened: Opened, further: readonly string[] = []): Promise<Browser> {
  requireChromium();
  const browser = await chromium.launch({
    executablePath: CHROMIUM_PATH!,
    args: ['--no-sandbox', '--disable-background-networking', ...further],
  });
  opened.add(() => browser.close());
  return browser;
}

/** Asks until there is an answer. */
export async function until<T>(what: string, find: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = performance.now() + WITHIN_MS; performance.now() < end; ) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  throw new Error(`waited in vain for ${what}`);
}

/** What the host's page is told, when a tenant has signed up. */
export async function hostState(stand: Stand): Promise<HostState> {
  return await until('a tenant', async () => (await stand.state()).host);
}

export async function findPerson(stand: Stand, username: string): Promise<Person | undefined> {
  return (await stand.state()).people.find((each) => each.username === username);
}

export class Visitor {
  readonly page: Page;
  readonly #stand: Stand;

  private constructor(page: Page, stand: Stand) {
    this.page = page;
    this.#stand = stand;
  }

  /** `path`: `/` for the host, or that of a link. */
  static async open(
    browser: Browser,
    stand: Stand,
    path: string,
    options: BrowserContextOptions = {},
  ): Promise<Visitor> {
    const context = await browser.newContext(options);
    context.setDefaultTimeout(WITHIN_MS);
    const page = await context.newPage();
    await page.goto(stand.url + path);
    return new Visitor(page, stand);
  }

  press(name: string): Promise<void> {
    return this.page.getByRole('button', { name }).click();
  }

  async signUp(): Promise<void> {
    await this.press('Sign up');
    await hostState(this.#stand);
  }

  /** On the sandbox's page, which opens in a tab of its own. */
  async pay(): Promise<void> {
    const opening = this.page.context().waitForEvent('page');
    await this.page.getByRole('link', { name: 'Pay $20.00' }).click();
    const checkout = await opening;
    await checkout.getByRole('button', { name: /^Pay/ }).click();
    await until('the payment', async () => (await hostState(this.#stand)).hasPaid);
    await checkout.close();
  }

  /** Returns the path of the page to join on. */
  async openRoom(): Promise<string> {
    await this.press('Open a room');
    return await until('a link', async () => (await hostState(this.#stand)).link);
  }

  /** Returns the milliseconds from the question for a token to the open connection. */
  async join(username: string): Promise<number> {
    await this.page.getByLabel('Your name').fill(username);
    await this.page.getByRole('button', { name: 'Join', exact: true }).click();
    return await this.joined(username);
  }

  /** Fails with what the page says instead. */
  async joined(username: string): Promise<number> {
    const problem = this.page.getByRole('alert');
    await this.page.locator('.you:visible').or(problem).waitFor();
    if (await problem.isVisible()) throw new Error(`the page says: ${await problem.innerText()}`);
    const find = async () => (await findPerson(this.#stand, username))?.counts?.connectedMs;
    return await until(`${username} to be connected`, find);
  }
}
