/** `/console/spend`: what usage cost by day, hour or month, and by room, role, tier, participant, key or customer; the same as CSV. */
import { type Html, html } from '@boxoffice/pages/html';
import { invalidField } from '../../../base/failure.ts';
import { plainDollars } from '../../../money/amount.ts';
import { getCalendar } from '../../../money/calendar/get-calendar.ts';
import { ROLE_WORDS, TIER_WORDS } from '../../../money/pricing/role.ts';
import { type Answer, page } from '../../consoles/answer.ts';
import {
  emptyState,
  exact,
  type Faults,
  field,
  named,
  scrolling,
  select,
} from '../../consoles/components.ts';
import { csvLinks, separatorOf } from '../../consoles/csv-links.ts';
import { readOrFaults } from '../../consoles/read-fields.ts';
import { renderCsv } from '../../http/csv.ts';
import type { Form } from '../../http/form.ts';
import type { SessionCall } from '../route.ts';
import { renderChart } from './chart.ts';
import {
  type Asked,
  DAYS_MAX,
  DIMENSIONS,
  findSpend,
  isOfSessions,
  nameOfBar,
  parseAsked,
  type Spend,
  type Step,
} from './spend-series.ts';

/** The script of the chart that can be zoomed is loaded here alone. */
const loadAssets = () => import('../../consoles/assets/chart-assets.ts');

export async function showSpend({ deps, session, query }: SessionCall): Promise<Answer> {
  const calendar = await getCalendar(deps.db, session.tenant);
  const { value: asked, faults } = readOrFaults(() => parseAsked(query, calendar), ['from', 'to']);
  if (faults)
    return page({ title: 'Spend', body: html`<h1>Spend</h1>${renderForm(query, undefined, faults)}` }, 400);
  const spend = inWords(asked, await findSpend(deps, session.tenant, asked));
  const { CHART_SCRIPT_ASSET, PLOT_ASSET, PLOT_STYLE_ASSET } = await loadAssets();
  const body = html`<h1>Spend</h1>
${renderForm(query, asked, {})}
${asked.isCut && html`<p class="note">Hours are shown of ${DAYS_MAX.hour} days at most: these are the last ones.</p>`}
${isOfSessions(asked.by) && query.get('every') === 'hour' && html`<p class="note">Sums by ${asked.by} are of days.</p>`}
<p>${exact(spend.total)} from ${asked.first} to ${asked.last}.${
    spend.unassigned > 0n &&
    html` Of all others, ${exact(spend.unassigned)} belongs to no <a href="/console/room-sessions">session</a>, or is not assigned yet.`
  }</p>
${
  spend.total === 0n
    ? emptyState('Nothing was spent in this time.', 'Usage is listed by the hour in which it was charged.')
    : html`${renderChart({
        label: `Spend by ${asked.every} and ${asked.by}. The table below has the numbers.`,
        bars: asked.bars.shown.map((time) => nameOfBar(time, asked.every)),
        series: spend.series,
        ...(asked.every !== 'month' && {
          zoom: { ...asked.bars, every: asked.every, script: PLOT_ASSET.path, style: PLOT_STYLE_ASSET.path },
        }),
      })}
<p>${csvLinks(`/console/spend.csv?from=${asked.first}&to=${asked.last}&by=${asked.by}&every=${asked.every}`, 'These numbers')}</p>
${renderTable(asked, spend)}`
}
<p><a href="/console/room-sessions">What each session cost</a></p>`;
  return page({ title: 'Spend', body, script: CHART_SCRIPT_ASSET.path });
}

/** `asked`: what the fields mean; without it, what was typed. */
function renderForm(query: Form, asked: Asked | undefined, faults: Faults): Html {
  return html`<form class="filters" method="get" action="/console/spend" novalidate>
${field({ name: 'from', label: 'From', value: asked?.first ?? query.get('from'), input: html`type="date"`, faults })}
${field({ name: 'to', label: 'To', value: asked?.last ?? query.get('to'), input: html`type="date"`, faults })}
${select(
  'by',
  'By',
  [
    { value: 'room', text: 'Room' },
    { value: 'role', text: 'Role' },
    { value: 'tier', text: 'Tier' },
    { value: 'participant', text: 'Participant' },
    { value: 'key', text: 'Key' },
    { value: 'customer', text: 'Customer' },
  ],
  asked?.by ?? query.get('by') ?? DIMENSIONS[0],
  faults,
)}
${select(
  'every',
  'For each',
  [
    { value: 'day', text: 'Day' },
    { value: 'hour', text: `Hour, of up to ${DAYS_MAX.hour} days` },
    { value: 'month', text: 'Month' },
  ],
  asked?.every ?? query.get('every') ?? 'day',
  faults,
)}
<button>Show</button></form>`;
}

/** With roles and tiers as people read them. The CSV has them as the interface for programs. */
function inWords({ by }: Asked, spend: Spend): Spend {
  if (by !== 'role' && by !== 'tier') return spend;
  const words: Readonly<Record<string, string>> = by === 'role' ? ROLE_WORDS : TIER_WORDS;
  return { ...spend, series: spend.series.map((each) => ({ ...each, name: words[each.name] ?? each.name })) };
}

const STEP_NAMES: Readonly<Record<Step, string>> = { day: 'Day', hour: 'Hour', month: 'Month' };

/** Without the rows in which nothing was spent. The script of the chart reads the numbers here. */
function renderTable({ by, every, bars }: Asked, { series, total }: Spend): Html {
  const sums = bars.shown.map((_, at) => series.reduce((sum, { amounts }) => sum + amounts[at]!, 0n));
  return scrolling(
    `Spend by ${every}`,
    html`<table id="spend" class="rows sums"><caption>Spend by ${every} and ${by}</caption>
<thead><tr><th scope="col">${STEP_NAMES[every]} (${bars.zone})</th>${series.map(({ name }) => html`<th scope="col" class="number">${named(name)}</th>`)}<th scope="col" class="number">All</th></tr></thead>
<tbody>${bars.shown.map(
      (time, at) =>
        sums[at]! > 0n &&
        html`<tr data-at="${time.getTime() / 1000}"><th scope="row" class="moment">${nameOfBar(time, every)}</th>${series.map(({ amounts }) => html`<td class="number">${amounts[at]! > 0n ? exact(amounts[at]!) : '–'}</td>`)}<td class="number">${exact(sums[at]!)}</td></tr>`,
    )}</tbody>
<tfoot><tr><th scope="row">All ${every}s</th>${series.map(
      ({ name, amounts }) =>
        html`<td class="number" data-label="${name}">${exact(amounts.reduce((sum, each) => sum + each, 0n))}</td>`,
    )}<td class="number">${exact(total)}</td></tr></tfoot></table>`,
  );
}

export async function sendSpend({ deps, session, query }: SessionCall): Promise<Answer> {
  const separator = separatorOf(query);
  const asked = parseAsked(query, await getCalendar(deps.db, session.tenant));
  if (asked.isCut) throw invalidField('from', `must be within ${DAYS_MAX.hour} days of the last day`);
  const { series } = await findSpend(deps, session.tenant, asked);
  const lines = asked.bars.shown.flatMap((time, at) =>
    series
      .filter(({ amounts }) => amounts[at]! > 0n)
      .map(({ name, amounts }) => {
        const amount = amounts[at]!;
        return renderCsv([nameOfBar(time, asked.every), name, amount, plainDollars(amount)], separator);
      }),
  );
  const body = [renderCsv([asked.every, asked.by, 'micros', 'dollars'], separator), ...lines].join('');
  return { kind: 'file', type: 'text/csv; charset=utf-8', body, saveAs: `spend-${asked.first}.csv` };
}
