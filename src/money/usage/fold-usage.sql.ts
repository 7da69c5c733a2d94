/** SQL that adds the deltas of postings to the sums of usage by hour. */
import type { Db } from '../../base/db/pool.ts';

/** What each of the sums counts, in the tables of sums and in deltas. */
export const MEASURES = [
  'records',
  'seconds',
  'egress_bytes',
  'ingress_bytes',
  'amount',
  'unbilled',
] as const;

const list = (render: (measure: string) => string) => MEASURES.map(render).join(', ');

/** `usage_deltas d` as rows like those of the tables of sums. */
export const DELTA_SUMS = `json_to_recordset(d.sums) as s (room text, role "char", tier "char", records bigint,
  seconds bigint, egress_bytes numeric, ingress_bytes numeric, amount numeric, unbilled numeric)`;

export const HOUR_OF_DELTA = `date_trunc('hour', d.at, 'UTC')`;

const ADD = `do update set ${list((measure) => `${measure} = u.${measure} + excluded.${measure}`)}`;

/**
 * Add up to `limit` deltas, and delete them, in one statement. Returns how many.
 *
 * Several processes may fold at once: each takes deltas that no other has locked, and all change the sums in the same
 * order, so none deadlocks.
 */
export async function foldDeltas(db: Db, limit: number): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'fold-usage-deltas',
    text: `with taken as materialized (
             delete from usage_deltas where (tenant_id, seq) in (
               select tenant_id, seq from usage_deltas order by tenant_id, seq limit $1 for update skip locked)
             returning *
           ), sums as materialized (
             select d.tenant_id, ${HOUR_OF_DELTA} as hour, s.room, s.role, s.tier, ${list((each) => `sum(s.${each}) as ${each}`)}
               from taken d, ${DELTA_SUMS}
              group by 1, 2, 3, 4, 5
           ), hours as (
             insert into usage_hours as u (tenant_id, hour, role, tier, ${list((each) => each)})
             select tenant_id, hour, role, tier, ${list((each) => `sum(${each})`)} from sums
              group by tenant_id, hour, role, tier order by tenant_id, hour, role, tier
             on conflict (tenant_id, hour, role, tier) ${ADD}
           ), rooms as (
             insert into usage_room_hours as u (tenant_id, hour, room, role, tier, ${list((each) => each)})
             select tenant_id, hour, room, role, tier, ${list((each) => each)} from sums
              order by tenant_id, hour, room, role, tier
             on conflict (tenant_id, hour, room, role, tier) ${ADD}
           )
           select count(*)::integer as count from taken`,
    values: [limit],
  });
  return rows[0]!.count;
}
