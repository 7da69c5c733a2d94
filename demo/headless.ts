/** Two browsers go through the whole story on the page that people press, and it is printed with its figures. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { CHROMIUM_PATH } from '../scripts/browser-path.ts';
import type { Opened } from '../src/run/lifetime.ts';
import { openStand, type Stand, type StandOptions } from './stand.ts';
import type { Person, State } from './state.ts';

const WITHIN_MS = 120_000;
const ASK_EVERY_MS = 100;
/** Pages and the relay tell their counts each second. */
const STILL_MS = 3_000;
/** So many pictures show that the stream flows. */
const PICTURES = 50;
/** What the relay counts and what the browser counts may differ by this share: packets that were lost on the way. */
const APART_MAX = 0.01;

export async function tellTheStory(opened: Opened, options: StandOptions): Promise<void> {
  if (CHROMIUM_PATH === undefined) {
    throw new Error('--headless needs Chromium: install it, or set CHROMIUM_PATH to one');
  }
  step('Service and sandbox start');
  const startedAt = performance.now();
  const stand = await openStand(opened, options);
  show('address', `${stand.url}, after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  const browser = await chromium.launch({
    executablePath: CHROMIUM_PATH,
    args: ['--no-sandbox', '--disable-background-networking'],
  });
  opened.add(() => browser.close());
  await new Story(stand, browser).tell();
  say('\nDone: both browsers saw what they paid for.');
}

class Story {
  readonly #stand: Stand;
  readonly #browser: Browser;

  constructor(stand: Stand, browser: Browser) {
    this.#stand = stand;
    this.#browser = browser;
  }

  async tell(): Promise<void> {
    const { context, page: host } = await this.#open('/');
    await this.#signUp(host);
    await this.#pay(host, context);
    const before = await this.#balance();
    const link = await this.#openRoom(host);
    await this.#join(host, 'ann');
    const { page: guest } = await this.#open(link);
    await this.#join(guest, 'bob');
    await this.#watch();
    const received = await this.#mute(host);
    await this.#kick(host, guest);
    await this.#compare(received, before);
    await this.#end(host);
  }

  async #signUp(page: Page): Promise<void> {
    step('A visitor signs up: this makes a tenant, its keys, and a relay');
    await page.getByRole('button', { name: 'Sign up' }).click();
    const { tenant } = await this.#until('a tenant', async () => (await this.#state()).host);
    show('tenant', tenant);
  }

  async #pay(page: Page, context: BrowserContext): Promise<void> {
    step("The visitor pays on the sandbox's page");
    const opening = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Pay $20.00' }).click();
    const checkout = await opening;
    await checkout.getByRole('button', { name: /^Pay/ }).click();
    await this.#until('the payment', async () => (await this.#state()).host?.hasPaid);
    await checkout.close();
    show('balance', await this.#balance());
  }

  /** Returns the path of the page to join on. */
  async #openRoom(page: Page): Promise<string> {
    step('The visitor opens a room, and is its host');
    await page.getByRole('button', { name: 'Open a room' }).click();
    const link = await this.#until('a link', async () => (await this.#state()).host?.link);
    show('link', this.#stand.url + link);
    return link;
  }

  async #join(page: Page, username: string): Promise<void> {
    step(`${username} joins with a drawn test picture`);
    await page.getByLabel('Your name').fill(username);
    await page.getByRole('button', { name: 'Join' }).click();
    const { connectedMs } = await this.#until(
      `${username} to be connected`,
      async () => (await this.#person(username))?.counts,
    );
    show('connected', `${connectedMs} ms after asking for a token`);
  }

  async #watch(): Promise<void> {
    step('They see each other');
    for (const username of ['ann', 'bob']) {
      const { frames, width, height } = await this.#until(`pictures at ${username}`, async () => {
        const counts = (await this.#person(username))?.counts;
        return counts && counts.frames >= PICTURES ? counts : undefined;
      });
      show(username, `${frames} pictures, the newest ${width} x ${height}`);
    }
  }

  /** Returns how many bytes bob's browser got in all. */
  async #mute(host: Page): Promise<number> {
    step('The host mutes ann, so nothing more flows to bob');
    for (const what of ['Mute sound', 'Mute picture']) {
      await host.getByRole('button', { name: `${what}: ann` }).click();
    }
    const received = await this.#untilStill('what bob got', (bob) => bob.counts?.received);
    show('browser', `bob's has got ${format(received)} bytes`);
    return received;
  }

  async #compare(received: number, before: string): Promise<void> {
    step("The relay has reported bob's stay, and the ledger has it");
    const relayed = await this.#untilStill('what the relay reported', (bob) => bob.relayed);
    const apart = Math.abs(received - relayed) / relayed;
    show('relay', `sent bob ${format(relayed)} bytes: ${(apart * 100).toFixed(2)} % apart`);
    if (!(apart <= APART_MAX)) throw new Error('the relay counted something else than the browser');
    const { tier, charged } = (await this.#person('bob'))!;
    show('charged', `${charged} for bob, tier ${tier}`);
    show('balance', `${before} before, ${await this.#balance()} now`);
  }

  async #kick(host: Page, guest: Page): Promise<void> {
    step('The host kicks bob');
    await host.getByRole('button', { name: 'Kick: bob' }).click();
    await guest.getByRole('alert').filter({ hasText: 'removed you' }).waitFor();
    show('bob reads', await guest.getByRole('alert').innerText());
    show('told', await this.#told('bob'));
  }

  async #end(host: Page): Promise<void> {
    step('The host ends the room');
    await host.getByRole('button', { name: 'End the room' }).click();
    show('told', await this.#told('ann'));
  }

  /** What the page of a participant was told about its end, and how fast. */
  #told(username: string): Promise<string> {
    return this.#until(`the page of ${username} to be told`, async () => {
      const { happenings } = (await this.#state()).host!;
      return happenings.find(({ text }) => text.startsWith(`${username}'s page was told`))?.text;
    });
  }

  /** A count of bob, when it has not changed for three seconds. */
  async #untilStill(what: string, count: (bob: Person) => number | undefined): Promise<number> {
    let last = 0;
    let since = performance.now();
    return await this.#until(`${what} to stand still`, async () => {
      const now = count((await this.#person('bob'))!) ?? 0;
      if (now !== last) [last, since] = [now, performance.now()];
      return performance.now() - since > STILL_MS && now;
    });
  }

  async #balance(): Promise<string> {
    return (await this.#state()).host!.balance;
  }

  async #person(username: string): Promise<Person | undefined> {
    return (await this.#state()).people.find((each) => each.username === username);
  }

  #state(): Promise<State> {
    return this.#stand.state();
  }

  async #open(path: string): Promise<{ context: BrowserContext; page: Page }> {
    const context = await this.#browser.newContext();
    context.setDefaultTimeout(WITHIN_MS);
    const page = await context.newPage();
    await page.goto(this.#stand.url + path);
    return { context, page };
  }

  async #until<T>(what: string, find: () => Promise<T | undefined | false>): Promise<T> {
    for (const until = performance.now() + WITHIN_MS; performance.now() < until; ) {
      const found = await find();
      if (found !== undefined && found !== false) return found;
      await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
    }
    throw new Error(`waited in vain for ${what}`);
  }
}

const format = (bytes: number) => bytes.toLocaleString('en-US');

let steps = 0;

function step(title: string): void {
  steps += 1;
  say(`\n${steps}. ${title}`);
}

function show(name: string, value: string): void {
  say(`    ${name.padEnd(10)} ${value}`);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
