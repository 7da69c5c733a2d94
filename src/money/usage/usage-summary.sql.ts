/** SQL that reads the sums of usage: those that are kept, and the deltas that are not added to them yet. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findCalendar } from '../calendar/time-zones.sql.ts';
import { roleOf, tierOf } from '../pricing/role-codes.ts';
import { DELTA_SUMS, MEASURES } from './fold-usage.sql.ts';
import { edgesOf, type Part, shortestWay } from './period-parts.ts';
import { findRolledUntil } from './roll-up-usage.sql.ts';
import { DETAIL_SUMS, ROOM_SUMS } from './rolled-up-sums.ts';
import { selectRoomSums } from './room-sums.sql.ts';
import {
  type Grouping,
  type Measures,
  type SummaryQuery,
  type SummaryRow,
  TIME_GROUPINGS,
} from './usage-summary.ts';

/** `$4` is the start of the period, and `starts` the parameter with the starts of its days or months. */
const grouped = (starts: string): Readonly<Record<Grouping, string>> => ({
  hour: `date_bin('1 hour', time, $4) as time`,
  day: `(${starts}::timestamptz[])[width_bucket(time, ${starts}::timestamptz[])] as time`,
  month: `(${starts}::timestamptz[])[width_bucket(time, ${starts}::timestamptz[])] as time`,
  room: 'room',
  role: 'role',
  tier: 'tier',
});

/** The measures of a group, and of all groups. */
export type SumRow = Record<(typeof MEASURES)[number] | `all_${(typeof MEASURES)[number]}`, string>;

interface GroupRow extends SumRow {
  readonly time?: Date;
  readonly room?: string;
  readonly role?: string;
  readonly tier?: string;
  readonly groups: bigint;
}

export interface Sums {
  readonly rows: readonly SummaryRow[];
  /** The sums of all rows; absent if there is none. */
  readonly total: Measures | undefined;
  readonly groups: bigint;
}

/** `all` is a window over every group, so that the total is of the same instant as the rows. */
export async function readSums(db: Db, tenant: TenantId, query: SummaryQuery): Promise<Sums> {
  const { groupBy, from, to, rooms, limit, skip } = query;
  const byRoom = rooms !== undefined || groupBy.includes('room');
  const sums = groupBy.includes('role') || groupBy.includes('tier') ? DETAIL_SUMS : ROOM_SUMS;
  const until = byRoom ? await findRolledUntil(db, tenant, sums) : from;
  const starts = await findStarts(db, tenant, query);
  const parts = byRoom ? partsOf(query, { ways: sums.ways, until, starts }) : [];
  const names = groupBy.map((each) => (TIME_GROUPINGS.some((time) => time === each) ? 'time' : each));
  const columns = [...names, ...MEASURES];
  const order = [...names.filter((name) => name === 'time'), 'amount desc', 'unbilled desc', ...names];
  const edges = edgesOf(from, to, { parts, until });
  const values = [tenant, limit, skip, ...edges, ...(rooms === undefined ? [] : [rooms])];
  const inRooms = rooms === undefined ? '' : `and room = any($${values.length})`;
  const groups = grouped(`$${values.length + 1}`);
  const { rows } = await db.query<GroupRow>({
    name: ['read-sums', ...groupBy, rooms !== undefined && 'in-rooms', ...parts.map((part) => `${part}s`)]
      .filter(Boolean)
      .join('-'),
    text: `with sums as (
             ${byRoom ? selectRoomSums({ columns, sums, parts, edges: 4, where: inRooms }) : selectSums(columns)}
           ), groups as (
             select ${groupBy.map((each) => `${groups[each]}, `).join('')}
                    ${MEASURES.map((each) => `sum(${each}) as ${each}`).join(', ')}
               from sums ${names.length > 0 ? `group by ${names.map((_, at) => at + 1).join(', ')}` : 'having count(*) > 0'}
           )
           select *, ${MEASURES.map((each) => `sum(${each}) over () as all_${each}`).join(', ')},
                  count(*) over () as groups
             from groups order by ${order.join(', ')} limit $2 offset $3`,
    values: starts ? [...values, starts] : values,
  });
  return {
    rows: rows.map(renderRow),
    total: rows[0] && measuresOf(rows[0], 'all_'),
    groups: rows[0]?.groups ?? 0n,
  };
}

/** When the days or months of the period begin, in the time zone of the tenant; `undefined`: they are not asked for. */
async function findStarts(
  db: Db,
  tenant: TenantId,
  { groupBy, from, to, ...given }: SummaryQuery,
): Promise<Date[] | undefined> {
  const isByDay = groupBy.includes('day');
  if (!isByDay && !groupBy.includes('month')) return undefined;
  const calendar = given.calendar ?? (await findCalendar(db, tenant));
  return isByDay
    ? calendar.startsOfDays(from, to)
    : calendar.monthsBetween(from, to).map((month) => calendar.startOf(month));
}

const DAY_MS = 86_400_000;
const DAYS: readonly Part[] = ['day'];

interface Choice {
  readonly ways: readonly (readonly Part[])[];
  readonly until: Date;
  readonly starts: readonly Date[] | undefined;
}

/** The parts of the period whose sums answer the question. Those that are kept are parts in UTC. */
function partsOf({ groupBy, from, to }: SummaryQuery, { ways, until, starts }: Choice): readonly Part[] {
  if (groupBy.includes('hour') || starts?.some((start) => start.getTime() % DAY_MS !== 0)) return [];
  if (groupBy.includes('day')) return DAYS;
  // A week may belong to two months.
  const whole = groupBy.includes('month') ? [DAYS, ...ways.filter((way) => !way.includes('week'))] : ways;
  return shortestWay(from, to, { ways: whole, until });
}

/** Sums without rooms, from `$4` on and before `$5`. */
function selectSums(columns: readonly string[]): string {
  const kept = columns.map((each) => (each === 'time' ? 'hour as time' : each)).join(', ');
  const left = columns.map((each) => (each === 'time' ? 'd.at as time' : `s.${each}`)).join(', ');
  return `select ${kept} from usage_hours where tenant_id = $1 and hour >= $4 and hour < $5
          union all
          select ${left} from usage_deltas d, ${DELTA_SUMS} where d.tenant_id = $1 and d.at >= $4 and d.at < $5`;
}

function renderRow({ time, room, role, tier, ...row }: GroupRow): SummaryRow {
  return {
    ...(time && { time }),
    ...(room !== undefined && { room }),
    ...(role !== undefined && { role: roleOf(role) }),
    ...(tier !== undefined && { tier: tierOf(tier) }),
    ...measuresOf(row, ''),
  };
}

export function measuresOf(row: SumRow, prefix: '' | 'all_'): Measures {
  return {
    records: BigInt(row[`${prefix}records`]),
    seconds: BigInt(row[`${prefix}seconds`]),
    egressBytes: BigInt(row[`${prefix}egress_bytes`]),
    ingressBytes: BigInt(row[`${prefix}ingress_bytes`]),
    amount: BigInt(row[`${prefix}amount`]),
    unbilled: BigInt(row[`${prefix}unbilled`]),
  };
}
