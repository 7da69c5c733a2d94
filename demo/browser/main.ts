/** Runs a page of the demo: asks for the state each second, shows it, and does what the visitor presses. */
import type { Invitation, Person, State } from '../state.ts';
import { ask, LINK } from './ask.ts';
import { Call, type Decoded } from './call.ts';
import { showHost } from './host.ts';
import { drawPicture, openCamera } from './picture.ts';
import { Tiles, write } from './tiles.ts';

const EVERY_MS = 1_000;
/** A screen reader is not told of each micro-dollar. */
const BALANCE_EVERY_MS = 20_000;

const find = <E extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as E | null;
const isHost = LINK === undefined;
const tiles = new Tiles(
  isHost
    ? {
        mute: (username, kind, isMuted) => void act(() => ask('mute', { username, kind, isMuted })),
        kick: (username) => void act(() => ask('kick', { username })),
      }
    : undefined,
);
let state: State | undefined;
let present: readonly Person[] = [];
let call: Call | undefined;
let decoded: ReadonlyMap<string, Decoded> = new Map();
let balanceToldAt = 0;
/** The last element that had the focus. */
let focused: HTMLElement | undefined;

/** What a button does. What goes wrong is shown, and the page is up to date afterwards. */
async function act(work: () => Promise<unknown>): Promise<void> {
  problem('');
  try {
    await work();
  } catch (error) {
    problem(`That did not work: ${(error as Error).message}`);
  }
  await refresh();
}

function problem(text: string): void {
  const place = find('problem')!;
  place.hidden = text === '';
  write(place, text);
}

async function refresh(): Promise<void> {
  if (call) {
    const seen = await call.read();
    decoded = seen.decoded;
    await ask('counts', { username: call.username, ...seen.counts }).catch(() => undefined);
  }
  try {
    show(await ask<State>('state'));
  } catch {
    problem('The demo has been stopped.');
  }
}

function show(next: State): void {
  const { invitation, host } = next;
  const people = next.people.filter(({ isPresent }) => isPresent);
  announce(people, host);
  present = people;
  state = next;
  if (isHost) {
    showHost(next, call);
    find('do-end')!.hidden = !invitation;
    write(find('present')!, String(people.length));
  } else find('entrance')!.hidden = call !== undefined || !invitation;
  find('do-leave')?.toggleAttribute('hidden', !call);
  find('stage')!.hidden = !(isHost ? host?.link : call);
  tiles.show(people, call?.username, decoded);
  const username = find<HTMLInputElement>('username')!;
  if (username.value === '') username.value = freeName(people);
  keepPlace();
}

/** What had the focus may be gone, because it has done its work. The keyboard goes on at what there is to do next. */
function keepPlace(): void {
  if (document.activeElement !== document.body || !focused || focused.checkVisibility()) return;
  const next = focused.closest('.tile')
    ? '#tiles'
    : ':is([aria-current] .before, #entrance, #stage) :is(a, button, input, code)';
  [...document.querySelectorAll<HTMLElement>(next)].find((each) => each.checkVisibility())?.focus();
}

/** Names of examples, as everywhere in cryptography. */
function freeName(people: readonly Person[]): string {
  const isFree = (name: string) => people.every(({ username }) => username !== name);
  return ['bob', 'eve'].find(isFree) ?? `guest-${people.length + 1}`;
}

/** Who came and went; and sometimes the balance. */
function announce(people: readonly Person[], host: State['host']): void {
  const names = (list: readonly Person[]) => list.map(({ username }) => username);
  const came = names(people).filter((name) => !names(present).includes(name));
  const went = names(present).filter((name) => !names(people).includes(name));
  const news = [...came.map((name) => `${name} has joined`), ...went.map((name) => `${name} has left`)];
  const before = state?.host?.balance ?? host?.balance;
  if (host && host.balance !== before && Date.now() - balanceToldAt > BALANCE_EVERY_MS) {
    balanceToldAt = Date.now();
    news.push(`The balance is ${host.balance}`);
  }
  if (news.length > 0) write(find('announcer')!, news.join('. '));
}

async function join(invitation: Invitation, form: FormData): Promise<void> {
  const picture = form.get('picture');
  const open = (username: string) => {
    if (picture === 'camera') return openCamera();
    return picture === 'drawn' ? drawPicture(username) : undefined;
  };
  call = await Call.join(invitation, String(form.get('username')), open, {
    track: (username, track) => tiles.attach(username, track),
    ended: (username, code, words) => {
      leaveStage();
      problem(words);
      void ask('heard', { username, code }).then(refresh, () => undefined);
    },
  });
  for (const track of call.stream?.getTracks() ?? []) tiles.attach(call.username, track);
}

function leaveStage(): void {
  call = undefined;
  decoded = new Map();
  tiles.detachAll();
}

/** One press at a time. A button that was disabled instead would lose the focus of the keyboard. */
function once(button: HTMLButtonElement, work: () => Promise<unknown>): void {
  if (button.ariaBusy === 'true') return;
  button.ariaBusy = 'true';
  void act(work).finally(() => {
    button.ariaBusy = 'false';
  });
}

function press(id: string, work: (button: HTMLButtonElement) => Promise<unknown>): void {
  const button = find<HTMLButtonElement>(id);
  button?.addEventListener('click', () => once(button, () => work(button)));
}

press('do-sign-up', () => ask('sign-up'));
press('do-open', () => ask('room'));
press('do-end', () => ask('end'));
press('do-leave', async () => {
  const leaving = call?.leave();
  leaveStage();
  await leaving;
});
press('do-copy', async (button) => {
  await navigator.clipboard.writeText(find('link')!.textContent);
  write(button, 'Copied');
});
press('do-hear', async (button) => {
  const hears = button.getAttribute('aria-pressed') !== 'true';
  button.setAttribute('aria-pressed', String(hears));
  tiles.silence(!hears);
});
find('join')!.addEventListener('submit', (event) => {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  once(form.querySelector('button')!, () => join(state!.invitation!, new FormData(form)));
});
addEventListener('focusin', ({ target }) => {
  focused = target as HTMLElement;
});
addEventListener('pagehide', () => void call?.leave());

for (;;) {
  await refresh();
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}
