/** `/console/spend`: what usage cost by day, and by room, role or tier; the same as CSV. */
import { html } from '@boxoffice/pages/html';
import { invalidField } from '../../../base/failure.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { displayMicros } from '../../../money/amount.ts';
import { summarizeUsage } from '../../../money/usage/summarize-usage.ts';
import {
  SUMMARY_DAYS_MAX,
  SUMMARY_ROWS_MAX,
  type SummaryQuery,
  type SummaryRow,
} from '../../../money/usage/usage-summary.ts';
import type { Deps } from '../../deps.ts';
import { renderCsv } from '../../http/csv.ts';
import type { Form } from '../../http/form.ts';
import { parseWholeHours } from '../../http/period.ts';
import { emptyState, exact, field, named, scrolling, select } from '../components.ts';
import { type Answer, page, type SessionCall } from '../route.ts';
import { renderBars, SERIES_MAX, type Series } from './chart.ts';

const DIMENSIONS = ['room', 'role', 'tier'] as const;
type Dimension = (typeof DIMENSIONS)[number];

const DAY_MS = 86_400_000;
const DAYS_USUAL = 30;
const OTHERS = 'All others';
const NO_ROOM = 'Without a room';

interface Asked {
  readonly by: Dimension;
  /** Whole days. */
  readonly from: Date;
  readonly to: Date;
}

interface Spend {
  readonly days: readonly string[];
  readonly series: readonly Series[];
  readonly total: bigint;
}

export async function showSpend({ deps, session, query }: SessionCall): Promise<Answer> {
  const asked = parseAsked(query);
  const { days, series, total } = await findSpend(deps, session.tenant, asked);
  const [from, to] = [dayOf(asked.from), dayOf(new Date(asked.to.getTime() - DAY_MS))];
  const here = `from=${from}&to=${to}&by=${asked.by}`;
  const sums = days.map((_, at) => series.reduce((sum, { amounts }) => sum + amounts[at]!, 0n));
  const body = html`<h1>Spend</h1>
<form class="filters" method="get" action="/console/spend">
${field({ name: 'from', label: 'From (UTC)', value: from, input: html`type="date"` })}
${field({ name: 'to', label: 'To (UTC)', value: to, input: html`type="date"` })}
${select(
  'by',
  'By',
  [
    { value: 'room', text: 'Room' },
    { value: 'role', text: 'Role' },
    { value: 'tier', text: 'Tier' },
  ],
  asked.by,
)}
<button>Show</button></form>
<p>${exact(total)} from ${from} to ${to}.</p>
${
  total === 0n
    ? emptyState('Nothing was spent in this time.', 'Usage is listed by the hour in which it was charged.')
    : html`${renderBars({ label: `Spend by day and ${asked.by}. The table below has the numbers.`, bars: days, series })}
<p><a href="/console/spend.csv?${here}">These numbers as CSV</a></p>
${scrolling(
  'Spend by day',
  html`<table><caption>Spend by day and ${asked.by}</caption>
<thead><tr><th scope="col">Day (UTC)</th>${series.map(({ name }) => html`<th scope="col" class="number">${named(name)}</th>`)}<th scope="col" class="number">All</th></tr></thead>
<tbody>${days.map(
    (day, at) =>
      sums[at]! > 0n &&
      html`<tr><th scope="row">${day}</th>${series.map(({ amounts }) => html`<td class="number">${exact(amounts[at]!)}</td>`)}<td class="number">${exact(sums[at]!)}</td></tr>`,
  )}</tbody>
<tfoot><tr><th scope="row">All days</th>${series.map(
    ({ amounts }) => html`<td class="number">${exact(amounts.reduce((sum, each) => sum + each, 0n))}</td>`,
  )}<td class="number">${exact(total)}</td></tr></tfoot></table>`,
)}`
}`;
  return page({ title: 'Spend', body });
}

export async function sendSpend({ deps, session, query }: SessionCall): Promise<Answer> {
  const asked = parseAsked(query);
  const { days, series } = await findSpend(deps, session.tenant, asked);
  const lines = days.flatMap((day, at) =>
    series
      .filter(({ amounts }) => amounts[at]! > 0n)
      .map(({ name, amounts }) => {
        const amount = amounts[at]!;
        return renderCsv([day, name, amount, displayMicros(amount).replace('$', '')]);
      }),
  );
  const body = [renderCsv(['day', asked.by, 'micros', 'dollars']), ...lines].join('');
  return { kind: 'file', type: 'text/csv; charset=utf-8', body, saveAs: `spend-${dayOf(asked.from)}.csv` };
}

/** `to` of the form is the last day, and in the period. */
function parseAsked(query: Form): Asked {
  const by = DIMENSIONS.find((each) => each === (query.get('by') || 'room'));
  if (!by) throw invalidField('by', `must be one of ${DIMENSIONS.join(', ')}`);
  const today = new Date(`${dayOf(new Date())}T00:00:00Z`);
  const last = parseDay('to', query.get('to')) ?? today;
  const to = new Date(last.getTime() + DAY_MS);
  const from = parseDay('from', query.get('from')) ?? new Date(to.getTime() - DAYS_USUAL * DAY_MS);
  const period = parseWholeHours({ from: from.toISOString(), to: to.toISOString() }, SUMMARY_DAYS_MAX);
  return { by, ...period };
}

function parseDay(name: string, text: string | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined;
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  if (Number.isNaN(day.getTime()) || dayOf(day) !== text)
    throw invalidField(name, 'must be a day such as 2026-11-01');
  return day;
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The most expensive groups, one series each, and one for all others. */
async function findSpend(deps: Deps, tenant: TenantId, { by, from, to }: Asked): Promise<Spend> {
  const days = Array.from({ length: Math.round((to.getTime() - from.getTime()) / DAY_MS) }, (_, at) =>
    dayOf(new Date(from.getTime() + at * DAY_MS)),
  );
  const read = (groupBy: SummaryQuery['groupBy'], limit: number, room?: string) =>
    summarizeUsage(deps.db, tenant, { groupBy, from, to, room, limit, skip: 0 });
  const { rows: groups, total, hasMore } = await read([by], SERIES_MAX - 1);
  const names = groups.map((row) => nameOf(row, by));
  const series = names.map((name) => ({ name, amounts: days.map(() => 0n) }));
  const add = (at: number, rows: readonly SummaryRow[]) => {
    for (const row of rows) {
      const day = days.indexOf(dayOf(row.time!));
      series[at]!.amounts[day] = (series[at]!.amounts[day] ?? 0n) + row.amount;
    }
  };
  if (by === 'room') {
    for (const [at, group] of groups.entries())
      add(at, (await read(['day'], SUMMARY_ROWS_MAX, group.room)).rows);
  } else {
    const { rows } = await read(['day', by], SUMMARY_DAYS_MAX * SERIES_MAX);
    for (const row of rows) add(names.indexOf(nameOf(row, by)), [row]);
  }
  if (!hasMore) return { days, series, total: total.amount };
  const all = { name: OTHERS, amounts: days.map(() => 0n) };
  for (const row of (await read(['day'], SUMMARY_ROWS_MAX)).rows)
    all.amounts[days.indexOf(dayOf(row.time!))] = row.amount;
  const others = all.amounts.map((sum, at) => series.reduce((left, { amounts }) => left - amounts[at]!, sum));
  return { days, series: [...series, { name: OTHERS, amounts: others }], total: total.amount };
}

function nameOf(row: SummaryRow, by: Dimension): string {
  return row[by] || NO_ROOM;
}
