/** What usage cost by day, hour or month, as series of rooms, keys and so on: what the page of spend draws and lists. */
import { labelKeys } from '../../../access/devices/label-keys.ts';
import { invalidField } from '../../../base/failure.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { SESSION_GROUPINGS, type SessionGrouping } from '../../../control/sessions/session-sums.ts';
import { summarizeSessions } from '../../../control/sessions/summarize-sessions.ts';
import { type Calendar, type Day, daysLater, IN_UTC, lastDayOf } from '../../../money/calendar/calendar.ts';
import { nameOfOffset, offsetAt } from '../../../money/calendar/time-zone.ts';
import type { Month } from '../../../money/month.ts';
import { rankRooms } from '../../../money/usage/rank-rooms.ts';
import { summarizeUsage } from '../../../money/usage/summarize-usage.ts';
import { SUMMARY_DAYS_MAX, SUMMARY_ROWS_MAX } from '../../../money/usage/usage-summary.ts';
import { choiceOf } from '../../consoles/query.ts';
import { readFields } from '../../consoles/read-fields.ts';
import type { Deps } from '../../deps.ts';
import type { Form } from '../../http/form.ts';
import { SERIES_MAX, type Series } from './chart.ts';

/** The first one is shown if none is asked for: rooms take longer to add up. */
export const DIMENSIONS = ['role', 'tier', 'room', ...SESSION_GROUPINGS] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export const STEPS = ['day', 'hour', 'month'] as const;
/** How much time a bar is about. */
export type Step = (typeof STEPS)[number];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS_USUAL: Readonly<Record<Step, number>> = { day: 30, hour: 3, month: 365 };
/** Fewer days by the hour: their table would be too heavy for a page otherwise. */
export const DAYS_MAX: Readonly<Record<Step, number>> = {
  day: SUMMARY_DAYS_MAX,
  hour: 14,
  month: SUMMARY_DAYS_MAX,
};
const OTHERS = 'All others';
const UNNAMED: Readonly<Record<Dimension, string>> = {
  role: '',
  tier: '',
  room: 'Without a room',
  participant: '',
  key: 'Key not known',
  customer: 'Without a customer',
};

export interface Asked {
  readonly by: Dimension;
  readonly every: Step;
  /** Whose days they are. */
  readonly calendar: Calendar;
  /** The first day and the last day of the period. */
  readonly first: Day;
  readonly last: Day;
  readonly from: Date;
  readonly to: Date;
  readonly bars: Bars;
  /** The period began earlier, and is shown from `from` on. */
  readonly isCut: boolean;
}

export interface Bars {
  /** When each one begins. */
  readonly times: readonly Date[];
  /** What the clock shows then, as if it were that of UTC: so all bars are of the same width. */
  readonly shown: readonly Date[];
  /** Which clock that is: by its zone or, so that hours do not repeat, by its offset from UTC. */
  readonly zone: string;
}

export interface Spend {
  readonly series: readonly Series[];
  readonly total: bigint;
  /** What belongs to no session, as part of all others; 0 unless the series are of sessions. */
  readonly unassigned: bigint;
}

/** Sums of sessions have days and months of UTC. Months are shown whole. Fails with `invalid_request`. */
export function parseAsked(query: Form, ofTenant: Calendar): Asked {
  const {
    by = DIMENSIONS[0],
    every: chosen = STEPS[0],
    ...given
  } = readFields({
    by: () => choiceOf(query, 'by', DIMENSIONS),
    every: () => choiceOf(query, 'every', STEPS),
    from: () => parseDay('from', query.get('from')),
    to: () => parseDay('to', query.get('to')),
  });
  const every = isOfSessions(by) && chosen === 'hour' ? 'day' : chosen;
  const calendar = isOfSessions(by) ? IN_UTC : ofTenant;
  const lastAsked = given.to ?? calendar.dayOf(new Date());
  const last = every === 'month' ? lastDayOf(lastAsked.slice(0, 7) as Month) : lastAsked;
  const firstAsked = given.from ?? daysLater(last, 1 - DAYS_USUAL[every]);
  if (firstAsked > last) throw invalidField('from', 'must not be after the last day');
  const asked = every === 'month' ? (`${firstAsked.slice(0, 7)}-01` as Day) : firstAsked;
  const earliest = daysLater(last, 1 - DAYS_MAX[every]);
  // Asking for hours of a month that was shown by day is no mistake.
  const isCut = every === 'hour' && asked < earliest;
  if (!isCut && asked < earliest)
    throw invalidField('from', `must be within ${DAYS_MAX[every]} days of the last day`);
  const first = isCut ? earliest : asked;
  const [from, to] = [calendar.startOfDay(first), calendar.startOfDay(daysLater(last, 1))];
  return {
    by,
    every,
    calendar,
    first,
    last,
    from,
    to,
    bars: barsOf(every, calendar, { first, last }),
    isCut,
  };
}

type Days = Pick<Asked, 'first' | 'last'>;

function barsOf(every: Step, calendar: Calendar, days: Days): Bars {
  if (every === 'hour') return barsOfHours(calendar, days);
  const { first, last } = days;
  const count = (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  const all = Array.from({ length: count }, (_, at) => daysLater(first, at));
  const shown = every === 'day' ? all : all.filter((day) => day.endsWith('-01'));
  return {
    times: shown.map((day) => calendar.startOfDay(day)),
    shown: shown.map((day) => new Date(day)),
    zone: calendar.zoneOf(last.slice(0, 7) as Month),
  };
}

function barsOfHours(calendar: Calendar, { first, last }: Days): Bars {
  const [from, to] = [calendar.startOfDay(first), calendar.startOfDay(daysLater(last, 1))];
  const offset = offsetAt(calendar.zoneOf(calendar.monthOf(from)), from.getTime());
  const count = Math.ceil((to.getTime() - from.getTime()) / HOUR_MS);
  const times = Array.from({ length: count }, (_, at) => new Date(from.getTime() + at * HOUR_MS));
  return { times, shown: times.map((time) => new Date(time.getTime() + offset)), zone: nameOfOffset(offset) };
}

function parseDay(name: string, text: string | undefined): Day | undefined {
  if (text === undefined || text === '') return undefined;
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text)
    throw invalidField(name, 'must be a day such as 2026-11-01');
  return text as Day;
}

const NAME_LENGTHS: Readonly<Record<Step, number>> = { month: 7, day: 10, hour: 16 };

/** The name of a bar: `2026-11`, `2026-11-01`, or `2026-11-01 13:00`. */
export function nameOfBar(shown: Date, every: Step): string {
  return shown.toISOString().slice(0, NAME_LENGTHS[every]).replace('T', ' ');
}

/** The most expensive groups, one series each, and one for all others. */
export async function findSpend(deps: Deps, tenant: TenantId, asked: Asked): Promise<Spend> {
  const { by, every, calendar, from, to } = asked;
  const { times } = asked.bars;
  // The second of two days that begin at the same time has it.
  const places = new Map(times.map((time, at) => [time.getTime(), at]));
  const amountsOf = (rows: readonly Pick<Row, 'time' | 'amount'>[]) => {
    const amounts = times.map(() => 0n);
    for (const { time, amount } of rows) amounts[places.get(time!.getTime())!]! += amount;
    return amounts;
  };
  const { groups, total, unassigned, hasMore } = await findGroups(deps, tenant, asked);
  const rows = await findRows(deps, tenant, asked, { groups, limit: times.length * SERIES_MAX });
  const labels = by === 'key' ? await labelKeys(deps.db, tenant, groups) : undefined;
  const series: Series[] = groups.map((group) => ({
    name: (labels?.get(group) ?? group) || UNNAMED[by],
    amounts: amountsOf(rows.filter((row) => row.group === group)),
  }));
  if (!hasMore) return { series, total, unassigned };
  const query = { groupBy: [every], calendar, from, to, rooms: undefined, limit: SUMMARY_ROWS_MAX, skip: 0 };
  const all = amountsOf((await summarizeUsage(deps.db, tenant, query)).rows);
  const others = all.map((sum, at) => series.reduce((left, { amounts }) => left - amounts[at]!, sum));
  return { series: [...series, { name: OTHERS, amounts: others }], total, unassigned };
}

export function isOfSessions(by: Dimension): by is SessionGrouping {
  return SESSION_GROUPINGS.includes(by as SessionGrouping);
}

interface Row {
  readonly time?: Date;
  readonly group: string | undefined;
  readonly amount: bigint;
}

/** What each of the groups cost in each step. */
async function findRows(
  { db }: Deps,
  tenant: TenantId,
  { by, every, calendar, from, to }: Asked,
  { groups, limit }: { readonly groups: readonly string[]; readonly limit: number },
): Promise<Row[]> {
  const page = { from, to, limit, skip: 0 };
  if (isOfSessions(by)) {
    const { rows } = await summarizeSessions(db, tenant, {
      by,
      every: every === 'month' ? 'month' : 'day',
      names: groups,
      ...page,
    });
    return rows.map((row) => ({ ...row, group: row.name }));
  }
  const rooms = by === 'room' ? groups : undefined;
  const { rows } = await summarizeUsage(db, tenant, { groupBy: [every, by], calendar, rooms, ...page });
  return rows.map((row) => ({ ...row, group: row[by] }));
}

interface Groups {
  /** The rooms, roles and so on that have a series of their own, the most expensive first. */
  readonly groups: readonly string[];
  /** The sum of all groups, and of what is unassigned. */
  readonly total: bigint;
  readonly unassigned: bigint;
  readonly hasMore: boolean;
}

async function findGroups(deps: Deps, tenant: TenantId, { by, from, to }: Asked): Promise<Groups> {
  const limit = SERIES_MAX - 1;
  if (by === 'room') {
    const { top, total, count } = await rankRooms(deps.db, tenant, { from, to, limit });
    return { groups: top.map(({ room }) => room), total, unassigned: 0n, hasMore: count > top.length };
  }
  const page = { from, to, limit, skip: 0 };
  if (isOfSessions(by)) {
    const all = { by, every: undefined, names: undefined, ...page };
    const { rows, total, unassigned, hasMore } = await summarizeSessions(deps.db, tenant, all);
    const groups = rows.filter(({ amount }) => amount > 0n).map(({ name }) => name);
    const isPart = hasMore || unassigned.amount > 0n;
    return { groups, total: total.amount, unassigned: unassigned.amount, hasMore: isPart };
  }
  const query = { groupBy: [by], rooms: undefined, ...page };
  const { rows, total, hasMore } = await summarizeUsage(deps.db, tenant, query);
  return { groups: rows.map((row) => row[by]!), total: total.amount, unassigned: 0n, hasMore };
}
