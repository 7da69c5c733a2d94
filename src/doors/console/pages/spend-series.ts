/** What usage cost by day or hour, as series of rooms, keys and so on: what the page of spend draws and lists. */
import { labelKeys } from '../../../access/devices/label-keys.ts';
import { invalidField } from '../../../base/failure.ts';
import type { TenantId } from '../../../base/tenants/tenant.ts';
import { SESSION_GROUPINGS, type SessionGrouping } from '../../../control/sessions/session-sums.ts';
import { summarizeSessions } from '../../../control/sessions/summarize-sessions.ts';
import { rankRooms } from '../../../money/usage/rank-rooms.ts';
import { summarizeUsage } from '../../../money/usage/summarize-usage.ts';
import { SUMMARY_DAYS_MAX, SUMMARY_ROWS_MAX } from '../../../money/usage/usage-summary.ts';
import { choiceOf } from '../../consoles/query.ts';
import type { Deps } from '../../deps.ts';
import type { Form } from '../../http/form.ts';
import { SERIES_MAX, type Series } from './chart.ts';

/** The first one is shown if none is asked for: rooms take longer to add up. */
export const DIMENSIONS = ['role', 'tier', 'room', ...SESSION_GROUPINGS] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export const STEPS = ['day', 'hour'] as const;
/** How much time a bar is about. */
export type Step = (typeof STEPS)[number];

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const STEP_MS: Readonly<Record<Step, number>> = { day: DAY_MS, hour: HOUR_MS };
const DAYS_USUAL: Readonly<Record<Step, number>> = { day: 30, hour: 3 };
/** Fewer days by the hour: their table would be too heavy for a page otherwise. */
export const DAYS_MAX: Readonly<Record<Step, number>> = { day: SUMMARY_DAYS_MAX, hour: 14 };
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
  /** Whole days. */
  readonly from: Date;
  readonly to: Date;
  /** The period began earlier, and is shown from `from` on. */
  readonly isCut: boolean;
}

export interface Spend {
  /** When each bar begins. */
  readonly times: readonly Date[];
  readonly series: readonly Series[];
  readonly total: bigint;
  /** What belongs to no session, as part of all others; 0 unless the series are of sessions. */
  readonly unassigned: bigint;
}

/** `to` of the form is the last day, and in the period. Fails with `invalid_request`. */
export function parseAsked(query: Form): Asked {
  const by = choiceOf(query, 'by', DIMENSIONS) ?? DIMENSIONS[0];
  const asked = choiceOf(query, 'every', STEPS) ?? STEPS[0];
  const every = isOfSessions(by) ? 'day' : asked;
  const last = parseDay('to', query.get('to')) ?? new Date(`${dayOf(new Date())}T00:00:00Z`);
  const to = new Date(last.getTime() + DAY_MS);
  const from = parseDay('from', query.get('from')) ?? new Date(to.getTime() - DAYS_USUAL[every] * DAY_MS);
  if (from >= to) throw invalidField('from', 'must not be after the last day');
  const earliest = new Date(to.getTime() - DAYS_MAX[every] * DAY_MS);
  // Asking for hours of a month that was shown by day is no mistake.
  if (from < earliest && every === 'hour') return { by, every, from: earliest, to, isCut: true };
  if (from < earliest) throw invalidField('from', `must be within ${DAYS_MAX[every]} days of the last day`);
  return { by, every, from, to, isCut: false };
}

function parseDay(name: string, text: string | undefined): Date | undefined {
  if (text === undefined || text === '') return undefined;
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : new Date(Number.NaN);
  if (Number.isNaN(day.getTime()) || dayOf(day) !== text)
    throw invalidField(name, 'must be a day such as 2026-11-01');
  return day;
}

export function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10);
}

/** The name of a bar: `2026-11-01`, or `2026-11-01 13:00`. */
export function nameOfTime(time: Date, every: Step): string {
  return every === 'day' ? dayOf(time) : time.toISOString().slice(0, 16).replace('T', ' ');
}

/** The last day of the period. */
export function lastDayOf({ to }: Asked): string {
  return dayOf(new Date(to.getTime() - DAY_MS));
}

/** The most expensive groups, one series each, and one for all others. */
export async function findSpend(deps: Deps, tenant: TenantId, asked: Asked): Promise<Spend> {
  const { by, every, from, to } = asked;
  const step = STEP_MS[every];
  const times = Array.from(
    { length: Math.round((to.getTime() - from.getTime()) / step) },
    (_, at) => new Date(from.getTime() + at * step),
  );
  const amountsOf = (rows: readonly Pick<Row, 'time' | 'amount'>[]) => {
    const amounts = times.map(() => 0n);
    for (const { time, amount } of rows)
      amounts[Math.round((time!.getTime() - from.getTime()) / step)]! += amount;
    return amounts;
  };
  const { groups, total, unassigned, hasMore } = await findGroups(deps, tenant, asked);
  const rows = await findRows(deps, tenant, asked, { groups, limit: times.length * SERIES_MAX });
  const labels = by === 'key' ? await labelKeys(deps.db, tenant, groups) : undefined;
  const series: Series[] = groups.map((group) => ({
    name: (labels?.get(group) ?? group) || UNNAMED[by],
    amounts: amountsOf(rows.filter((row) => row.group === group)),
  }));
  if (!hasMore) return { times, series, total, unassigned };
  const query = { groupBy: [every], from, to, rooms: undefined, limit: SUMMARY_ROWS_MAX, skip: 0 };
  const all = amountsOf((await summarizeUsage(deps.db, tenant, query)).rows);
  const others = all.map((sum, at) => series.reduce((left, { amounts }) => left - amounts[at]!, sum));
  return { times, series: [...series, { name: OTHERS, amounts: others }], total, unassigned };
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
  { by, every, from, to }: Asked,
  { groups, limit }: { readonly groups: readonly string[]; readonly limit: number },
): Promise<Row[]> {
  const page = { from, to, limit, skip: 0 };
  if (isOfSessions(by)) {
    const { rows } = await summarizeSessions(db, tenant, { by, every: 'day', names: groups, ...page });
    return rows.map((row) => ({ ...row, group: row.name }));
  }
  const rooms = by === 'room' ? groups : undefined;
  const { rows } = await summarizeUsage(db, tenant, { groupBy: [every, by], rooms, ...page });
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
