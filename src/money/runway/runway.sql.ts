/** SQL that reads the rooms that cost most. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { DELTA_SUMS } from '../usage/fold-usage.sql.ts';
import { ROOMS_SHOWN } from './runway.ts';

export interface RoomSum {
  readonly room: string;
  /** Micros. */
  readonly amount: bigint;
  /** Of all rooms. */
  readonly total: bigint;
}

/** From the start of an hour up to now, the most expensive first. Rooms that cost nothing are left out. */
export async function sumRooms(db: Db, tenant: TenantId, from: Date): Promise<RoomSum[]> {
  const { rows } = await db.query<Record<keyof RoomSum, string>>({
    name: 'sum-rooms',
    text: `with rooms as (
             select room, sum(amount) as amount from (
               select room, sum(amount) as amount from usage_room_hours
                where tenant_id = $1 and hour >= $2 group by room
               union all
               select s.room, s.amount from usage_deltas d, ${DELTA_SUMS}
                where d.tenant_id = $1 and d.at >= $2) as sums
              group by room)
           select room, amount::text as amount, (sum(amount) over ())::text as total
             from rooms where amount > 0 order by rooms.amount desc, room collate "C" limit ${ROOMS_SHOWN}`,
    values: [tenant, from],
  });
  return rows.map(({ room, amount, total }) => ({ room, amount: BigInt(amount), total: BigInt(total) }));
}
