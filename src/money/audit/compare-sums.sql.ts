/** SQL that recomputes the sums of usage by hour, those by room too, from the records. */
import type { Db } from '../../base/db/pool.ts';
import { DIFFERENCES_MAX, type Difference } from './verify.sql.ts';

/** The sums that a table keeps together with the deltas that are not added to it yet, against the records. */
export async function compareSums(db: Db): Promise<Difference[]> {
  const hours = await compareTable(db, 'usage_hours', `''`);
  const rooms = await compareTable(db, 'usage_room_hours', 'room');
  return [...hours, ...rooms].slice(0, DIFFERENCES_MAX);
}

/** `room` is the room of a row, in the table and in a delta. */
async function compareTable(db: Db, table: string, room: string): Promise<Difference[]> {
  const ofRecord = room === 'room' ? `left(coalesce(r.room, ''), 200)` : room;
  const measures = ['records', 'seconds', 'egress_bytes', 'ingress_bytes', 'amount', 'unbilled'];
  const sums = measures.map((each) => `sum(${each}) as ${each}`).join(', ');
  const shown = (row: string) => `concat_ws(', ', ${measures.map((each) => `${row}.${each}`).join(', ')})`;
  const { rows } = await db.query<Difference>(
    `with kept as (
       select tenant_id, hour, room, role, tier, ${sums} from (
         select tenant_id, hour, ${room} as room, role, tier, ${measures.join(', ')} from ${table}
         union all
         select d.tenant_id, date_trunc('hour', d.at, 'UTC'), ${room}, s.role, s.tier,
                s.records, s.seconds, s.egress_bytes, s.ingress_bytes, s.amount, s.unbilled
           from usage_deltas d, json_array_elements(d.sums) as e (sum), lateral (
             select sum->>0 as room, (sum->>1)::"char" as role, (sum->>2)::"char" as tier,
                    ${measures.map((each, at) => `(sum->>${at + 3})::numeric as ${each}`).join(', ')}) as s) as each
        group by 1, 2, 3, 4, 5
     ), charged as (
       select r.tenant_id, date_trunc('hour', p.at, 'UTC') as hour, ${ofRecord} as room, r.role, r.tier,
              count(*)::numeric as records, sum(r.seconds)::numeric as seconds, sum(r.egress_bytes) as egress_bytes,
              sum(r.ingress_bytes) as ingress_bytes,
              coalesce(sum(r.amount) filter (where p.kind = 'usage'), 0) as amount,
              coalesce(sum(r.amount) filter (where p.kind = 'unbilled'), 0) as unbilled
         from usage_records r join postings p on p.tenant_id = r.tenant_id and p.seq = r.posting_seq
        group by 1, 2, 3, 4, 5
     )
     select tenant_id as tenant,
            format('sums of %s %s %s in room %L', to_char(hour at time zone 'UTC', 'YYYY-MM-DD HH24:00'), role, tier, room)
              as what,
            coalesce(nullif(${shown('c')}, ''), 'none') as expected, coalesce(nullif(${shown('k')}, ''), 'none') as found
       from kept k full join charged c using (tenant_id, hour, room, role, tier)
      where (k.records, k.seconds, k.egress_bytes, k.ingress_bytes, k.amount, k.unbilled)
            is distinct from (c.records, c.seconds, c.egress_bytes, c.ingress_bytes, c.amount, c.unbilled)
      limit $1`,
    [DIFFERENCES_MAX],
  );
  return rows;
}
