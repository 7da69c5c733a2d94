/** SQL that opens a room for the first join of its name. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import { limitOf } from '../../base/tenants/limits.ts';
import { isLastPlaceTaken, type LimitHolder } from '../../base/tenants/places.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { insertRoomInSteps, type RoomToInsert } from '../rooms/insert-room.sql.ts';
import { DEFAULT_POLICY, ROOMS_LIMIT } from '../rooms/room.ts';
import { ROOM_CREATED } from '../rooms/rooms.sql.ts';

/**
 * Open the first room of this name and take its place under the limit, in one statement of one server. Returns its uid;
 * `undefined` if another call has opened a room of this name, or if the places must be counted first; always where tables are
 * distributed.
 *
 * The row of places is locked after the room, as by `takePlace()`, and only until the statement commits.
 */
export async function openFirstRoomInPlace(
  db: Db,
  holder: LimitHolder,
  name: string,
): Promise<string | undefined> {
  if (isDistributed()) return undefined;
  try {
    const { rows } = await db.query<{ uid: string }>({
      name: 'open-first-room-in-place',
      text: `with r as (
               insert into rooms (tenant_id, uid, name, incarnation, policy)
               select $1, $2, $3, 1, $4
                 from tenant_places where tenant_id = $1 and limit_name = 'rooms' and max = $5 and free > 0
               on conflict do nothing returning *
             ), place as (
               update tenant_places p set free = case when p.max = $5 then p.free - 1 else -1 end
                 from r where p.tenant_id = $1 and p.limit_name = 'rooms'
             ), ${ROOM_CREATED}
             select uid from r`,
      values: [holder.id, newId('rm'), name, DEFAULT_POLICY, limitOf(holder, ROOMS_LIMIT)],
    });
    return rows[0]?.uid;
  } catch (error) {
    if (isLastPlaceTaken(error)) return undefined;
    throw error;
  }
}

export interface OpenedRoom {
  readonly uid: string;
  /** False: another call has opened the room meanwhile. */
  readonly isNew: boolean;
}

/**
 * Open the first room of this name, which takes no place under the limit. `undefined` if another call has opened
 * it meanwhile, and it has ended.
 */
export async function openFirstRoom(tx: Tx, tenant: TenantId, name: string): Promise<OpenedRoom | undefined> {
  const uid = newId('rm');
  const room = { uid, name, policy: DEFAULT_POLICY, metadata: '', incarnation: 1 };
  const isNew = isDistributed()
    ? (await insertRoomInSteps(tx, tenant, room)) !== undefined
    : await insertFirstRoom(tx, tenant, room);
  if (isNew) return { uid, isNew };
  const { rows } = await tx.query<{ uid: string }>({
    name: 'find-live-room-uid',
    text: `select uid from rooms where tenant_id = $1 and name = $2 and state = 'LIVE'`,
    values: [tenant, name],
  });
  return rows[0] && { uid: rows[0].uid, isNew };
}

/** Returns false if the name was used before. */
async function insertFirstRoom(
  tx: Tx,
  tenant: TenantId,
  { uid, name, policy }: RoomToInsert,
): Promise<boolean> {
  const { rows } = await tx.query({
    name: 'open-first-room',
    text: `with r as (
             insert into rooms (tenant_id, uid, name, incarnation, policy) values ($1, $2, $3, 1, $4)
             on conflict do nothing returning *
           ), ${ROOM_CREATED}
           select from r`,
    values: [tenant, uid, name, policy],
  });
  return rows.length === 1;
}
