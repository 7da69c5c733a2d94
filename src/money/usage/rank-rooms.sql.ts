/** SQL that reads the rooms that cost most in a period. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { edgesOf, SHORT_PARTS } from './period-parts.ts';
import { findRolledUntil } from './roll-up-usage.sql.ts';
import { ROOM_SUMS } from './rolled-up-sums.ts';
import { selectRoomSums } from './room-sums.sql.ts';

/** Amounts are in micros. */
export interface RankedRooms {
  /** The most expensive first. The empty room has the records without a room. */
  readonly top: readonly { readonly room: string; readonly amount: bigint }[];
  /** What all rooms cost, and how many there are. */
  readonly total: bigint;
  readonly count: bigint;
}

export async function readRanking(
  db: Db,
  tenant: TenantId,
  from: Date,
  to: Date,
  limit: number,
): Promise<RankedRooms> {
  const kept = { parts: SHORT_PARTS, until: await findRolledUntil(db, tenant, ROOM_SUMS) };
  const sums = selectRoomSums({
    columns: ['room', 'amount'],
    sums: ROOM_SUMS,
    parts: kept.parts,
    edges: 3,
    where: '',
  });
  const { rows } = await db.query<{ room: string; amount: string; total: string; count: bigint }>({
    name: 'rank-rooms',
    text: `with rooms as (select room, sum(amount) as amount from (${sums}) as sums group by room)
           select room, amount::text as amount, (sum(amount) over ())::text as total, count(*) over () as count
             from rooms where amount > 0 order by rooms.amount desc, room collate "C" limit $2`,
    values: [tenant, limit, ...edgesOf(from, to, kept)],
  });
  return {
    top: rows.map(({ room, amount }) => ({ room, amount: BigInt(amount) })),
    total: BigInt(rows[0]?.total ?? 0n),
    count: rows[0]?.count ?? 0n,
  };
}
