/** SQL that recomputes all sums of usage from the records: by hour, and by room and hour, day, week or month. */
import type { Db } from '../../base/db/pool.ts';
import { DIFFERENCES_MAX, type Difference } from './verify.sql.ts';

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
const TABLES: readonly Table[] = [
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

/**
 * The sums that each table keeps, together with the deltas that are not added to them yet, against the records.
 *
 * One statement reads the records once for all tables.
 */
export async function compareSums(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>(
    `with charged as materialized (
       select r.tenant_id, date_trunc('hour', p.at, 'UTC') as hour, left(coalesce(r.room, ''), 200) as room, r.role, r.tier,
              count(*)::numeric as records, sum(r.seconds)::numeric as seconds, sum(r.egress_bytes) as egress_bytes,
              sum(r.ingress_bytes) as ingress_bytes,
              coalesce(sum(r.amount) filter (where p.kind = 'usage'), 0) as amount,
              coalesce(sum(r.amount) filter (where p.kind = 'unbilled'), 0) as unbilled
         from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
        group by 1, 2, 3, 4, 5
     ), deltas as materialized (
       select d.tenant_id, date_trunc('hour', d.at, 'UTC') as hour, s.*
         from usage_deltas d, json_array_elements(d.sums) as e (sum), lateral (
           select sum->>0 as room, (sum->>1)::"char" as role, (sum->>2)::"char" as tier,
                  ${MEASURES.map((each, at) => `(sum->>${at + 3})::numeric as ${each}`).join(', ')}) as s
     )
     ${TABLES.map(compareTable).join(' union all ')}
     limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}

/** Whatever the time zone of the session. */
function endOf(unit: Table['unit'], start: string): string {
  return `(${start} at time zone 'UTC' + interval '1 ${unit}') at time zone 'UTC'`;
}

function compareTable({ name, unit, until, key, what }: Table): string {
  const columns = ['tenant_id', 'time', ...key].join(', ');
  const shown = (row: string) => `coalesce(nullif(concat_ws(', ', ${listOf(row)}), ''), 'none')`;
  const values = [...key, ...MEASURES].join(', ');
  const inUnit = `date_trunc('${unit}', hour, 'UTC')`;
  // Days, weeks and months are added up when they are over.
  const inTable =
    until === undefined
      ? ''
      : `join usage_rollups using (tenant_id) where ${endOf(unit, inUnit)} <= ${until}`;
  // The sums of an hour may be in rows of its quarters.
  const kept = unit === 'hour' ? inUnit : unit;
  const summed = (table: string) => `select tenant_id, ${inUnit} as time, ${values} from ${table} ${inTable}`;
  return `(select tenant_id as tenant, ${what} as what, ${shown('c')} as expected, ${shown('k')} as found
             from (select ${columns}, ${SUMMED} from (select tenant_id, ${kept} as time, ${values} from ${name} union all ${summed('deltas')}) as each
                    group by ${columns}) as k
             full join (select ${columns}, ${SUMMED} from (${summed('charged')}) as each group by ${columns}) as c
                  using (${columns})
            where (${listOf('k')}) is distinct from (${listOf('c')}))`;
}
