/** What only the host's page shows: the five steps, the money, and what happened. */
import type { Entry, Happening, State } from '../state.ts';
import type { Call } from './call.ts';
import { write } from './tiles.ts';

const find = <E extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as E;

/** The steps in their order, what came of each, and whether it is done. */
function stepsOf(
  { host, invitation }: State,
  call: Call | undefined,
): [name: string, isDone: boolean, said: string][] {
  return [
    ['sign-up', host !== undefined, String(host?.tenant)],
    ['pay', host?.hasPaid === true, 'with a test card'],
    ['open', host?.link !== undefined, String(invitation?.room)],
    ['join', call !== undefined, `as ${call?.username}, in ${call?.connectedMs} ms`],
    // It stays open, so that the link does.
    ['invite', false, ''],
  ];
}

export function showHost(state: State, call: Call | undefined): void {
  const { host, isTaken } = state;
  find('taken').hidden = !isTaken;
  find('hosting').hidden = isTaken;
  const steps = stepsOf(state, call);
  const current = steps.find(([, isDone]) => !isDone)?.[0];
  for (const [name, isDone, said] of steps) {
    const step = find(`step-${name}`);
    step.classList.toggle('is-done', isDone);
    if (name === current) step.setAttribute('aria-current', 'step');
    else step.removeAttribute('aria-current');
    step.querySelector<HTMLElement>('.before')!.hidden = name !== current;
    const after = step.querySelector<HTMLElement>('.after')!;
    after.hidden = !isDone;
    write(after, said);
  }
  find('log').hidden = !host;
  if (!host) return;
  find<HTMLAnchorElement>('do-pay').href = host.payAt;
  write(find('balance'), host.balance);
  write(find('spent'), `${host.spent} charged for usage`);
  write(find('room-name'), state.invitation?.room ?? 'There is no open room');
  write(find('link'), host.link === undefined ? '' : location.origin + host.link);
  list(find('happenings'), host.happenings, happeningOf);
  list(find('entries'), host.entries, entryOf);
}

function happeningOf({ text }: Happening): string[] {
  return [text];
}

function entryOf({ kind, amount, detail }: Entry): string[] {
  return [[kind.replaceAll('_', ' '), detail].filter(Boolean).join(' of '), amount];
}

/** Rows that are the same are left alone. */
function list<T>(place: HTMLElement, items: readonly T[], textsOf: (item: T) => string[]): void {
  const known = JSON.stringify(items);
  if (place.dataset.shown === known) return;
  place.dataset.shown = known;
  place.replaceChildren(
    ...items.map((item) => {
      const row = document.createElement('li');
      const parts = textsOf(item).map((text) =>
        Object.assign(document.createElement('span'), { textContent: text }),
      );
      row.className = parts.length > 1 ? 'entry' : '';
      row.append(...parts);
      return row;
    }),
  );
}
