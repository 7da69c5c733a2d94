/** SQL of `rooms`. */
import { clock } from '../../base/db/distribution.ts';
import { filtered } from '../../base/db/filtered.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { countUpTo } from '../../base/tenants/places.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { HAS_BANNED_RANGES } from '../bans/bans.sql.ts';
import type { EndReason, LockedRoom, Room, RoomPolicy, RoomReference, RoomState } from './room.ts';

/** The columns of a `LockedRoom`, from `rooms r`. */
const LOCKED_ROOM = `r.name, r.uid, r.state, r.policy, r.created_at as "createdAt", r.ended_at as "endedAt",
  r.end_reason as "endReason", r.metadata`;

/** The columns of a `Room`, from `rooms r` of the tenant `$1`. */
export const ROOM = `${LOCKED_ROOM},
  (select count(*)::integer from participants p
    where p.tenant_id = $1 and p.room_uid = r.uid and p.left_at is null and p.expires_at > now())
    as "participantCount"`;

/** Lock a room until the transaction ends, against entries and other holders of this lock. */
export async function lockRoom(tx: Tx, tenant: TenantId, uid: string): Promise<void> {
  await tx.query({
    name: 'lock-room',
    text: 'select from rooms where tenant_id = $1 and uid = $2 for no key update',
    values: [tenant, uid],
  });
}

/** Like `lockRoom()`, for several rooms in a fixed order, which avoids deadlocks. */
export async function lockRooms(tx: Tx, tenant: TenantId, uids: readonly string[]): Promise<void> {
  await tx.query({
    name: 'lock-rooms',
    text: 'select from rooms where tenant_id = $1 and uid = any($2) order by uid for no key update',
    values: [tenant, uids],
  });
}

/** The live room of this name, otherwise the one that ended last; locked as by `lockRoom()`. */
export async function lockRoomByName(
  tx: Tx,
  tenant: TenantId,
  name: string,
): Promise<LockedRoom | undefined> {
  const { rows } = await tx.query<LockedRoom>({
    name: 'lock-room-by-name',
    text: `select ${LOCKED_ROOM} from rooms r where r.tenant_id = $1 and r.name = $2
            order by r.incarnation desc limit 1 for no key update of r`,
    values: [tenant, name],
  });
  return rows[0];
}

/** The room with this uid and, if given, this name; without a uid, as `lockRoomByName()` finds it. */
export async function findRoom(
  db: Db,
  tenant: TenantId,
  reference: RoomReference,
): Promise<Room | undefined> {
  const { name, uid } = reference;
  if (uid === undefined) return findRoomByName(db, tenant, name);
  const room = await findRoomByUid(db, tenant, uid);
  return name === undefined || room?.name === name ? room : undefined;
}

async function findRoomByName(db: Db, tenant: TenantId, name: string): Promise<Room | undefined> {
  const { rows } = await db.query<Room>({
    name: 'find-room-by-name',
    text: `select ${ROOM} from rooms r where r.tenant_id = $1 and r.name = $2
            order by r.incarnation desc limit 1`,
    values: [tenant, name],
  });
  return rows[0];
}

async function findRoomByUid(db: Db, tenant: TenantId, uid: string): Promise<Room | undefined> {
  const { rows } = await db.query<Room>({
    name: 'find-room-by-uid',
    text: `select ${ROOM} from rooms r where r.tenant_id = $1 and r.uid = $2`,
    values: [tenant, uid],
  });
  return rows[0];
}

export async function findNames(
  db: Db,
  tenant: TenantId,
  uids: readonly string[],
): Promise<Pick<Room, 'uid' | 'name'>[]> {
  const { rows } = await db.query<Pick<Room, 'uid' | 'name'>>({
    name: 'find-room-names',
    text: 'select uid, name from rooms where tenant_id = $1 and uid = any($2)',
    values: [tenant, uids],
  });
  return rows;
}

export interface RoomFilter {
  readonly state: RoomState | undefined;
  readonly namePrefix: string | undefined;
  readonly createdFrom: Date | undefined;
  readonly createdBefore: Date | undefined;
}

/** Rooms, the newest first, after the one with uid `after`. */
export async function findRooms(
  db: Db,
  tenant: TenantId,
  filter: RoomFilter & { readonly after: string | undefined; readonly limit: number },
): Promise<Room[]> {
  const { state, namePrefix, createdFrom, createdBefore, after, limit } = filter;
  const { name, where, values } = filtered('find-rooms', [tenant, limit], {
    // Constants, because an index of live rooms does not serve a parameter.
    live: state === 'LIVE' && [`r.state = 'LIVE'`],
    ended: state === 'ENDED' && [`r.state = 'ENDED'`],
    prefix: namePrefix && ['left(r.name, length(?)) = ?', namePrefix, namePrefix],
    from: createdFrom && ['r.created_at >= ?', createdFrom],
    before: createdBefore && ['r.created_at < ?', createdBefore],
    after: after && [
      '(r.created_at, r.uid) < (select created_at, uid from rooms where tenant_id = $1 and uid = ?)',
      after,
    ],
  });
  const { rows } = await db.query<Room>({
    name,
    text: `select ${ROOM} from rooms r where r.tenant_id = $1 ${where}
            order by r.created_at desc, r.uid desc limit $2`,
    values,
  });
  return rows;
}

/** Live rooms by name, after the one of name `after`; with `room`, only the one of that name. */
export async function findLiveRooms(
  db: Db,
  tenant: TenantId,
  {
    room,
    after,
    limit,
  }: { readonly room: string | undefined; readonly after: string | undefined; readonly limit: number },
): Promise<Room[]> {
  const { name, where, values } = filtered('find-live-rooms', [tenant, limit], {
    name: room && ['r.name = ?', room],
    after: after && ['r.name > ?', after],
  });
  const { rows } = await db.query<Room>({
    name,
    text: `select ${ROOM} from rooms r where r.tenant_id = $1 and r.state = 'LIVE' ${where}
            order by r.name limit $2`,
    values,
  });
  return rows;
}

/** The columns of a `Room` that has just been created, from `rooms r`. */
export const NEW_ROOM = `${LOCKED_ROOM}, 0 as "participantCount"`;

/**
 * For a `with`, after the insert of the room `r` of the tenant `$1`: appends its event. Relays must learn of the ranges that
 * are banned from it, because bans of ranges that are not of all rooms are published with its uid.
 */
export const ROOM_CREATED = `appended as (
    insert into unnumbered_events (tenant_id, type, room_uid, subject, revokes)
    select $1, 'room_created', r.uid, (select to_jsonb(v) from (select ${NEW_ROOM}) v), ${HAS_BANNED_RANGES} from r
  )`;

/** How many rooms are live, up to `most`. */
export async function countLiveRooms(tx: Tx, tenant: TenantId, most: number): Promise<number> {
  return countUpTo(
    tx,
    'count-live-rooms',
    most,
    `select from rooms where tenant_id = $1 and state = 'LIVE'`,
    [tenant],
  );
}

export async function updatePolicy(tx: Tx, tenant: TenantId, uid: string, policy: RoomPolicy): Promise<Room> {
  const { rows } = await tx.query<Room>({
    name: 'update-policy',
    text: `with r as (update rooms r set policy = $3 where r.tenant_id = $1 and r.uid = $2 returning r.*)
           select ${ROOM} from r`,
    values: [tenant, uid, policy],
  });
  return rows[0]!;
}

export async function markEnded(tx: Tx, tenant: TenantId, uid: string, reason: EndReason): Promise<Room> {
  const { rows } = await tx.query<Room>({
    name: 'mark-ended',
    text: `with r as (
             update rooms r set state = 'ENDED', ended_at = ${clock()}, end_reason = $3
              where r.tenant_id = $1 and r.uid = $2 returning r.*)
           select ${ROOM} from r`,
    values: [tenant, uid, reason],
  });
  return rows[0]!;
}
