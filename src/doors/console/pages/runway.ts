/** How long the credit lasts, as the overview and the page of alerts show it. */
import { type Html, html } from '@boxoffice/pages/html';
import type { Burns, Runway } from '../../../money/runway/get-runway.ts';
import type { Burn, Window } from '../../../money/runway/runway.ts';
import { dollars, emptyState, exact, named, roughly, timeOf } from '../../consoles/components.ts';
import { table } from '../../consoles/table.ts';

const WINDOW_TEXTS: Readonly<Record<Window, string>> = {
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
};

/** The windows after which an alert of hours is raised: `BURN_HOURS`. */
const ALERTING: readonly Window[] = ['1h', '24h'];

/** `null`: nothing is used. */
function lengthOf(hours: number | null): string {
  if (hours === null) return 'no end in sight';
  if (hours === 0) return 'nothing is left';
  if (hours < 1) return 'less than an hour';
  if (hours < 48) return hours < 2 ? 'one hour' : `${Math.floor(hours)} hours`;
  const days = Math.floor(hours / 24);
  return days > 3_650 ? 'more than ten years' : `${days.toLocaleString('en-US')} days`;
}

/** The burn that ends the credit first, of those that alerts look at. */
function soonestOf({ burns }: Burns): Burn {
  const looked = burns.filter(({ window }) => ALERTING.includes(window));
  return looked.reduce((a, b) => (b.perHour > a.perHour ? b : a));
}

export function runwayCard(runway: Burns): Html {
  const { hours, perHour, window } = soonestOf(runway);
  return html`<section class="card"><h2 class="label">The credit lasts</h2><p class="figure">${lengthOf(hours)}</p>
<p class="hint">${
    perHour === 0n
      ? 'Nothing was used in the last 24 hours.'
      : html`At ${roughly(perHour)} an hour, as in the ${WINDOW_TEXTS[window]}.`
  } <a href="/console/alerts">Alerts</a></p></section>`;
}

/** What an hour costs at present. An exempt tenant pays nothing, and its burn is 0. */
export function burnCard({ burns }: Burns): Html {
  const of = (window: Window) => burns.find((each) => each.window === window)!;
  const day = of('24h');
  return html`<section class="card"><h2 class="label">Burn</h2><p class="figure">${dollars(of('1h').perHour)}<span class="unit"> an hour</span></p>
<p class="hint">${exact(of('1h').spent)} in the last hour, ${exact(day.spent)} in the last 24.</p></section>`;
}

export function renderBurns({ burns }: Runway): Html {
  return table(
    'How long the credit lasts',
    ['If it goes on as in the', 'Spent', 'An hour', 'The credit lasts', 'Until'],
    burns.map(({ window, spent, perHour, hours, emptyAt }) => [
      WINDOW_TEXTS[window],
      exact(spent),
      exact(perHour),
      lengthOf(hours),
      emptyAt ? timeOf(emptyAt) : '–',
    ]),
    { numbers: ['Spent', 'An hour'], names: 'If it goes on as in the' },
  );
}

export function renderRooms({ rooms }: Runway): Html {
  if (rooms.top.length === 0)
    return emptyState('Nothing was used.', 'The rooms that cost most appear here as soon as usage arrives.');
  return table(
    'Rooms that cost most',
    ['Room', 'Spent', 'Share'],
    rooms.top.map(({ room, amount, share }) => [
      room === '' ? 'Without a room' : named(room),
      exact(amount),
      `${(share * 100).toFixed(1)} %`,
    ]),
    { numbers: ['Spent', 'Share'], names: 'Room' },
  );
}
