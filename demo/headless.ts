/** Two browsers go through the whole story on the page that people press, and it is printed with its figures. */
import { say, show, step } from '../scripts/story.ts';
import type { Opened } from '../src/run/lifetime.ts';
import { openStand, type Stand, type StandOptions } from './stand.ts';
import type { Person } from './state.ts';
import { findPerson, hostState, openBrowser, requireChromium, until, Visitor } from './visitor.ts';

/** So many pictures show that the stream flows. */
const PICTURES = 50;
/** Pages and the relay tell their counts each second. */
const STILL_MS = 3_000;
/** What the relay counts and what the browser counts may differ by this share: packets that were lost on the way. */
const APART_MAX = 0.01;

export async function tellTheStory(opened: Opened, options: StandOptions): Promise<void> {
  requireChromium();
  step('Service and sandbox start');
  const startedAt = performance.now();
  const stand = await openStand(opened, options);
  show('address', `${stand.url}, after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  const browser = await openBrowser(opened);
  const host = await Visitor.open(browser, stand, '/');
  const link = await startRoom(stand, host);
  const before = (await hostState(stand)).balance;
  const guest = await Visitor.open(browser, stand, link);
  for (const [username, visitor] of [
    ['ann', host],
    ['bob', guest],
  ] as const) {
    step(`${username} joins with a drawn test picture`);
    show('connected', `${await visitor.join(username)} ms after asking for a token`);
  }
  await watch(stand);
  const received = await mute(stand, host);
  await kick(stand, host, guest);
  await compare(stand, received, before);
  await end(stand, host);
  say('\nDone: the host paid for what bob got.');
}

/** Returns the path of the link for guests. */
async function startRoom(stand: Stand, host: Visitor): Promise<string> {
  step('A visitor signs up, which makes a tenant');
  await host.signUp();
  show('tenant', (await hostState(stand)).tenant);

  step("The visitor pays on the sandbox's page");
  await host.pay();
  show('balance', (await hostState(stand)).balance);

  step('The visitor opens a room, as its host, and a relay starts');
  const link = await host.openRoom();
  show('link', stand.url + link);
  return link;
}

async function watch(stand: Stand): Promise<void> {
  step('They see each other');
  for (const username of ['ann', 'bob']) {
    const { frames, width, height } = await until(`pictures at ${username}`, async () => {
      const counts = (await findPerson(stand, username))?.counts;
      return counts && counts.frames >= PICTURES && counts;
    });
    show(username, `${frames} pictures, the newest ${width} x ${height}`);
  }
}

/** Returns how many bytes bob's browser got in all. */
async function mute(stand: Stand, host: Visitor): Promise<number> {
  step('The host mutes ann, so nothing more flows to bob');
  for (const what of ['Mute sound', 'Mute picture']) await host.press(`${what}: ann`);
  const received = await untilStill(stand, 'what bob got', (bob) => bob.counts?.received);
  show('browser', `bob's has got ${format(received)} bytes`);
  return received;
}

async function kick(stand: Stand, host: Visitor, guest: Visitor): Promise<void> {
  step('The host kicks bob');
  await host.press('Kick: bob');
  const alert = guest.page.getByRole('alert').filter({ hasText: 'removed you' });
  show('bob reads', await alert.innerText());
  show('told', await told(stand, 'bob'));
}

async function compare(stand: Stand, received: number, before: string): Promise<void> {
  step("The relay has reported bob's stay, and the ledger has it");
  const relayed = await untilStill(stand, 'what the relay reported', (bob) => bob.relayed);
  const apart = Math.abs(received - relayed) / relayed;
  show('relay', `sent bob ${format(relayed)} bytes: ${(apart * 100).toFixed(2)} % apart`);
  if (!(apart <= APART_MAX)) throw new Error('the relay counted something else than the browser');
  const { tier, charged } = (await findPerson(stand, 'bob'))!;
  show('charged', `${charged} for bob, tier ${tier}`);
  show('balance', `${before} before, ${(await hostState(stand)).balance} now`);
}

async function end(stand: Stand, host: Visitor): Promise<void> {
  step('The host ends the room');
  await host.press('End the room');
  show('told', await told(stand, 'ann'));
}

/** What the page of a participant was told about its end, and how fast. */
function told(stand: Stand, username: string): Promise<string> {
  return until(`the page of ${username} to be told`, async () => {
    const { happenings } = await hostState(stand);
    return happenings.find(({ text }) => text.startsWith(`${username}'s page was told`))?.text;
  });
}

/** A count of bob, when it has not changed for some seconds. */
function untilStill(stand: Stand, what: string, count: (bob: Person) => number | undefined): Promise<number> {
  let last = 0;
  let since = performance.now();
  return until(`${what} to stand still`, async () => {
    const now = count((await findPerson(stand, 'bob'))!) ?? 0;
    if (now !== last) [last, since] = [now, performance.now()];
    return performance.now() - since > STILL_MS && now;
  });
}

const format = (bytes: number) => bytes.toLocaleString('en-US');
