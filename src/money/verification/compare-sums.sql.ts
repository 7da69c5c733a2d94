/** SQL that recomputes all sums of usage: by hour, and by room and hour, day, week or month. */
import type { Db } from '../../base/db/pool.ts';
import type { HourKey, HourSum, Slice } from './record-sums.ts';
import { DIFFERENCES_MAX, type Difference, toJson } from './verify.sql.ts';

/** A table of sums. Its columns `key` and `unit`, which is also the name of the time, make a row. */
interface Table {
  readonly name: string;
  readonly unit: 'hour' | 'day' | 'week' | 'month';
  /** The column of `usage_rollups` with the midnight up to which days and more are added up. */
  readonly until?: 'until' | 'details_until';
  readonly key: readonly ('room' | 'role' | 'tier')[];
  /** The name of a row in a report. */
  readonly what: string;
}

const UTC = `time at time zone 'UTC'`;
const HOURS: readonly Table[] = [
  {
    name: 'usage_hours',
    unit: 'hour',
    key: ['role', 'tier'],
    what: `format('sums of %s %s %s in all rooms', to_char(${UTC}, 'YYYY-MM-DD HH24:00'), role, tier)`,
  },
  {
    name: 'usage_room_hours',
    unit: 'hour',
    key: ['room', 'role', 'tier'],
    what: `format('sums of %s %s %s in room %L', to_char(${UTC}, 'YYYY-MM-DD HH24:00'), role, tier, room)`,
  },
];
const ROLLED_UP: readonly Table[] = [
  {
    name: 'usage_room_days',
    unit: 'day',
    until: 'until',
    key: ['room'],
    what: `format('sums of %s in room %L', to_char(${UTC}, 'YYYY-MM-DD'), room)`,
  },
  {
    name: 'usage_room_weeks',
    unit: 'week',
    until: 'until',
    key: ['room'],
    what: `format('sums of the week of %s in room %L', to_char(${UTC}, 'YYYY-MM-DD'), room)`,
  },
  ...(['day', 'week', 'month'] as const).map(
    (unit): Table => ({
      name: `usage_detail_${unit}s`,
      unit,
      until: 'details_until',
      key: ['room', 'role', 'tier'],
      what: `format('sums of the ${unit} of %s %s %s in room %L', to_char(${UTC}, 'YYYY-MM-DD'), role, tier, room)`,
    }),
  ),
];

const MEASURES = ['records', 'seconds', 'egress_bytes', 'ingress_bytes', 'amount', 'unbilled'];
const listOf = (row: string) => MEASURES.map((each) => `${row}.${each}`).join(', ');
const SUMMED = MEASURES.map((each) => `sum(${each}) as ${each}`).join(', ');
const NAMES = MEASURES.join(', ');

/** The sums by hour, together with the deltas that are not added to them yet, against what the records add up to. */
export async function compareHours(
  db: Db,
  { sums, from, to }: Slice<HourSum, HourKey>,
): Promise<Difference[]> {
  const inSlice = (time: string) =>
    `tenant_id between $3 and $5 and (tenant_id, ${time}) >= ($3, $4::timestamptz) and (tenant_id, ${time}) < ($5, $6::timestamptz)`;
  const deltaHour = `date_trunc('hour', at, 'UTC')`;
  const { rows } = await db.query<Difference>(
    `with summed as materialized (
       select tenant as tenant_id, hour as time, room, role, tier, records, seconds, "egressBytes" as egress_bytes,
              "ingressBytes" as ingress_bytes, amount, unbilled
         from json_to_recordset($2) as s (tenant bigint, hour timestamptz, room text, role "char", tier "char",
              records numeric, seconds numeric, "egressBytes" numeric, "ingressBytes" numeric, amount numeric, unbilled numeric)
     ), deltas as materialized (
       select d.tenant_id, ${deltaHour} as time, s.*
         from usage_deltas d, json_array_elements(d.sums) as e (sum), lateral (
           select sum->>0 as room, (sum->>1)::"char" as role, (sum->>2)::"char" as tier,
                  ${MEASURES.map((each, at) => `(sum->>${at + 3})::numeric as ${each}`).join(', ')}) as s
        where ${inSlice(deltaHour)}
     ), ${HOURS.map(
       // The sums of an hour may be in rows of its quarters.
       ({ name, key }) => `${name}_kept as materialized (
       select tenant_id, date_trunc('hour', hour, 'UTC') as time, ${key.join(', ')}, ${NAMES} from ${name} where ${inSlice('hour')})`,
     ).join(', ')}
     ${HOURS.map((table) => {
       const columns = ['tenant_id', 'time', ...table.key, ...MEASURES].join(', ');
       const kept = `select * from ${table.name}_kept union all select ${columns} from deltas`;
       return compareTable(table, kept, 'select * from summed');
     }).join(' union all ')}
     limit $1`,
    [DIFFERENCES_MAX, toJson(sums), ...from, ...to],
  );
  return rows;
}

/** The sums by day, week and month against those by hour: they are added up when they are over. */
export async function compareRolledUp(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `${ROLLED_UP.map((table) => {
      const { name, unit, until, key } = table;
      const values = [...key, NAMES].join(', ');
      const start = `date_trunc('${unit}', hour, 'UTC')`;
      const summed = `select tenant_id, ${start} as time, ${values} from usage_room_hours join usage_rollups using (tenant_id)
                       where ${endOf(unit, start)} <= ${until}`;
      return compareTable(table, `select tenant_id, ${unit} as time, ${values} from ${name}`, summed);
    }).join(' union all ')}
     limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}

/** Whatever the time zone of the session. */
function endOf(unit: Table['unit'], start: string): string {
  return `(${start} at time zone 'UTC' + interval '1 ${unit}') at time zone 'UTC'`;
}

/** `kept` and `summed`: rows with the columns of the table, of which any number may have the same key. */
function compareTable({ key, what }: Table, kept: string, summed: string): string {
  const columns = ['tenant_id', 'time', ...key].join(', ');
  const shown = (row: string) => `coalesce(nullif(concat_ws(', ', ${listOf(row)}), ''), 'none')`;
  const sums = (rows: string) => `(select ${columns}, ${SUMMED} from (${rows}) as each group by ${columns})`;
  return `(select tenant_id as tenant, ${what} as what, ${shown('c')} as expected, ${shown('k')} as found
             from ${sums(kept)} as k full join ${sums(summed)} as c using (${columns})
            where (${listOf('k')}) is distinct from (${listOf('c')}))`;
}
