/** SQL that creates rooms. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import { limitOf } from '../../base/tenants/limits.ts';
import { type LimitHolder, takeFreePlace } from '../../base/tenants/places.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { HAS_BANNED_RANGES } from '../bans/bans.sql.ts';
import { ROOMS_LIMIT, type Room } from './room.ts';
import { NEW_ROOM, ROOM_CREATED } from './rooms.sql.ts';

export interface RoomToInsert extends Pick<Room, 'uid' | 'name' | 'policy' | 'metadata'> {
  /** Absent: the one after the last of this name. */
  readonly incarnation?: number;
}

/**
 * Create a room, append its event, and take a place under the limit if one is known to be free. `undefined` while
 * a live room has the name.
 */
export async function insertRoom(
  tx: Tx,
  holder: LimitHolder,
  room: Pick<Room, 'name' | 'policy' | 'metadata'>,
): Promise<{ readonly room: Room; readonly isPlaced: boolean } | undefined> {
  if (isDistributed()) {
    const created = await insertRoomInSteps(tx, holder.id, { uid: newId('rm'), ...room });
    return created && { room: created, isPlaced: await takeFreePlace(tx, holder, ROOMS_LIMIT) };
  }
  const { rows } = await tx.query<Room & { isPlaced: boolean }>({
    name: 'insert-room',
    text: `with r as (
             insert into rooms (tenant_id, uid, name, policy, metadata, incarnation)
             select $1, $2, $3, $4, $5,
                    coalesce((select max(incarnation) from rooms where tenant_id = $1 and name = $3), 0) + 1
             on conflict do nothing returning *
           ), place as (
             update tenant_places set free = free - 1
              where tenant_id = $1 and limit_name = 'rooms' and max = $6 and free > 0
                and exists (select from r)
             returning 1
           ), ${ROOM_CREATED}
           select ${NEW_ROOM}, exists (select from place) as "isPlaced" from r`,
    values: [holder.id, newId('rm'), room.name, room.policy, room.metadata, limitOf(holder, ROOMS_LIMIT)],
  });
  if (!rows[0]) return undefined;
  const { isPlaced, ...created } = rows[0];
  return { room: created, isPlaced };
}

/**
 * Create a room, and append its event, where tables are distributed: Citus would collect the rows of one statement on the
 * coordinator. `undefined` while a live room has the name, or if the incarnation exists.
 */
export async function insertRoomInSteps(
  tx: Tx,
  tenant: TenantId,
  { uid, name, policy, metadata, ...wanted }: RoomToInsert,
): Promise<Room | undefined> {
  const incarnation = wanted.incarnation ?? (await findNextIncarnation(tx, tenant, name));
  const inserted = await tx.query({
    name: 'insert-room-alone',
    text: `insert into rooms (tenant_id, uid, name, policy, metadata, incarnation) values ($1, $2, $3, $4, $5, $6)
           on conflict do nothing`,
    values: [tenant, uid, name, policy, metadata, incarnation],
  });
  if (inserted.rowCount === 0) return undefined;
  const { rows } = await tx.query<Room & { subject: object; revokes: boolean }>({
    name: 'read-new-room',
    text: `select v.*, to_jsonb(v) as subject, ${HAS_BANNED_RANGES} as revokes
             from rooms r, lateral (select ${NEW_ROOM}) v where r.tenant_id = $1 and r.uid = $2`,
    values: [tenant, uid],
  });
  const { subject, revokes, ...room } = rows[0]!;
  await appendEvents(tx, tenant, [{ type: 'room_created', roomUid: uid, subject, revokes }]);
  return room;
}

async function findNextIncarnation(tx: Tx, tenant: TenantId, name: string): Promise<number> {
  const { rows } = await tx.query<{ next: number }>({
    name: 'next-incarnation',
    text: 'select coalesce(max(incarnation), 0) + 1 as next from rooms where tenant_id = $1 and name = $2',
    values: [tenant, name],
  });
  return rows[0]!.next;
}
