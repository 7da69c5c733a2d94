/** How long the credit lasts, as the overview and the page of alerts show it. */
import { type Html, html } from '@boxoffice/pages/html';
import { MICROS_PER_CENT } from '../../../money/amount.ts';
import type { Burns, Runway } from '../../../money/runway/get-runway.ts';
import type { Window } from '../../../money/runway/runway.ts';
import { dollars, emptyState, exact, named, roughly, timeOf } from '../../consoles/components.ts';
import { table } from '../../consoles/table.ts';

const WINDOW_TEXTS: Readonly<Record<Window, string>> = {
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
};

/** `null`: nothing is used. */
function lengthOf(hours: number | null): string {
  if (hours === null) return 'no end in sight';
  if (hours === 0) return 'nothing is left';
  if (hours < 1) return 'less than an hour';
  if (hours < 48) return hours < 2 ? 'one hour' : `${Math.floor(hours)} hours`;
  const days = Math.floor(hours / 24);
  return days > 365 ? 'more than a year' : `${days} days`;
}

/** One day is the base of both cards, because the last hour may be a quiet one, or a show. A tenant that has begun within it has no day yet. */
function baseOf(runway: Burns): Window {
  return burnOf(runway, '24h').spent > burnOf(runway, '1h').spent ? '24h' : '1h';
}

const burnOf = ({ burns }: Burns, window: Window) => burns.find((each) => each.window === window)!;

/** By the last 24 hours, with the last hour beside. */
export function runwayCard(runway: Burns): Html {
  const [day, hour] = [burnOf(runway, baseOf(runway)), burnOf(runway, '1h')];
  return html`<section class="card"><h2 class="label">The credit lasts</h2><p class="figure">${lengthOf(day.hours)}</p>
<p class="hint">${
    day.perHour === 0n
      ? 'Nothing was used in the last 24 hours.'
      : html`At ${roughly(day.perHour)} an hour, as in the ${WINDOW_TEXTS[day.window]}.${
          day !== hour && html` As in the last hour: ${lengthOf(hour.hours)}.`
        }`
  } <a href="/console/alerts">Alerts</a></p></section>`;
}

/** What an hour costs. An exempt tenant pays nothing, and its burn is 0. */
export function burnCard(runway: Burns): Html {
  const [base, day, hour] = [burnOf(runway, baseOf(runway)), burnOf(runway, '24h'), burnOf(runway, '1h')];
  return html`<section class="card"><h2 class="label">Burn</h2><p class="figure">${base.perHour < MICROS_PER_CENT ? exact(base.perHour) : dollars(base.perHour)}<span class="unit"> an hour</span></p>
<p class="hint">${exact(day.spent)} in the last 24 hours, ${exact(hour.spent)} in the last one.</p></section>`;
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
