/** SQL that reads the rooms that cost most. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { edgesOf } from '../usage/period-parts.ts';
import { selectRoomSums } from '../usage/room-sums.sql.ts';
import { ROOMS_SHOWN } from './runway.ts';

export interface RoomSum {
  readonly room: string;
  /** Micros. */
  readonly amount: bigint;
  /** Of all rooms. */
  readonly total: bigint;
}

/** From the start of an hour up to the end of a week, the most expensive first. Rooms that cost nothing are left out. */
export async function sumRooms(db: Db, tenant: TenantId, from: Date, to: Date): Promise<RoomSum[]> {
  const sums = selectRoomSums({ columns: ['room', 'amount'], upTo: 'week', edges: 2, where: '' });
  const { rows } = await db.query<Record<keyof RoomSum, string>>({
    name: 'sum-rooms',
    text: `with rooms as (select room, sum(amount) as amount from (${sums}) as sums group by room)
           select room, amount::text as amount, (sum(amount) over ())::text as total
             from rooms where amount > 0 order by rooms.amount desc, room collate "C" limit ${ROOMS_SHOWN}`,
    values: [tenant, ...edgesOf(from, to, 'week')],
  });
  return rows.map(({ room, amount, total }) => ({ room, amount: BigInt(amount), total: BigInt(total) }));
}
