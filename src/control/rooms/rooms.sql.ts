/** SQL of `rooms`. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import { countUpTo } from '../../base/tenants/places.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { EndReason, LockedRoom, Room, RoomPolicy, RoomState } from './room.ts';

/** The columns of a `LockedRoom`, from `rooms r`. */
const LOCKED_ROOM = `r.name, r.uid, r.state, r.policy, r.created_at as "createdAt", r.ended_at as "endedAt",
  r.end_reason as "endReason", r.metadata`;

/** The columns of a `Room`, from `rooms r`. */
export const ROOM = `${LOCKED_ROOM},
  (select count(*)::integer from participants p
    where p.tenant_id = r.tenant_id and p.room_uid = r.uid and p.left_at is null and p.expires_at > now())
    as "participantCount"`;

/** Lock a room until the transaction ends, against entries and other holders of this lock. */
export async function lockRoom(tx: Tx, tenant: TenantId, uid: string): Promise<void> {
  await tx.query('select from rooms where tenant_id = $1 and uid = $2 for no key update', [tenant, uid]);
}

/** Like `lockRoom()`, for several rooms in a fixed order, which avoids deadlocks. */
export async function lockRooms(tx: Tx, tenant: TenantId, uids: readonly string[]): Promise<void> {
  await tx.query('select from rooms where tenant_id = $1 and uid = any($2) order by uid for no key update', [
    tenant,
    uids,
  ]);
}

/** The live room of this name, otherwise the one that ended last; locked as by `lockRoom()`. */
export async function lockRoomByName(
  tx: Tx,
  tenant: TenantId,
  name: string,
): Promise<LockedRoom | undefined> {
  const { rows } = await tx.query<LockedRoom>(
    `select ${LOCKED_ROOM} from rooms r where r.tenant_id = $1 and r.name = $2
      order by r.incarnation desc limit 1 for no key update of r`,
    [tenant, name],
  );
  return rows[0];
}

/** The room with this uid; without a uid, like `lockRoomByName()`, but not locked. */
export async function findRoom(
  db: Db,
  tenant: TenantId,
  { name, uid }: { name?: string | undefined; uid?: string | undefined },
): Promise<Room | undefined> {
  const { rows } = await db.query<Room>(
    `select ${ROOM} from rooms r
      where r.tenant_id = $1 and ($2::text is null or r.name = $2) and ($3::text is null or r.uid = $3)
      order by r.incarnation desc limit 1`,
    [tenant, name, uid],
  );
  return rows[0];
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
  const { rows } = await db.query<Room>(
    `select ${ROOM} from rooms r
      where r.tenant_id = $1
        and ($2::text is null or r.state = $2)
        and ($3::text is null or starts_with(r.name, $3))
        and ($4::timestamptz is null or r.created_at >= $4)
        and ($5::timestamptz is null or r.created_at < $5)
        and ($6::text is null
             or (r.created_at, r.uid) < (select created_at, uid from rooms where tenant_id = $1 and uid = $6))
      order by r.created_at desc, r.uid desc limit $7`,
    [
      tenant,
      filter.state,
      filter.namePrefix,
      filter.createdFrom,
      filter.createdBefore,
      filter.after,
      filter.limit,
    ],
  );
  return rows;
}

/** Live rooms by name, after the one of name `after`; with `room`, only the one of that name. */
export async function findLiveRooms(
  db: Db,
  tenant: TenantId,
  options: { readonly room: string | undefined; readonly after: string | undefined; readonly limit: number },
): Promise<Room[]> {
  const { rows } = await db.query<Room>(
    `select ${ROOM} from rooms r
      where r.tenant_id = $1 and r.state = 'LIVE'
        and ($2::text is null or r.name = $2) and ($3::text is null or r.name > $3)
      order by r.name limit $4`,
    [tenant, options.room, options.after, options.limit],
  );
  return rows;
}

/** Create a room; `undefined` while a live one has the name. */
export async function insertRoom(
  tx: Tx,
  tenant: TenantId,
  room: Pick<Room, 'name' | 'policy' | 'metadata'>,
): Promise<Room | undefined> {
  const { rows } = await tx.query<Room>(
    `insert into rooms as r (tenant_id, uid, name, incarnation, policy, metadata)
     select $1, $2, $3, coalesce((select max(incarnation) from rooms where tenant_id = $1 and name = $3), 0) + 1,
            $4, $5
     on conflict do nothing returning ${ROOM}`,
    [tenant, newId('rm'), room.name, room.policy, room.metadata],
  );
  return rows[0];
}

/** How many rooms are live, up to `most`. */
export async function countLiveRooms(tx: Tx, tenant: TenantId, most: number): Promise<number> {
  return countUpTo(tx, most, `select from rooms where tenant_id = $1 and state = 'LIVE'`, [tenant]);
}

export async function updatePolicy(tx: Tx, tenant: TenantId, uid: string, policy: RoomPolicy): Promise<Room> {
  const { rows } = await tx.query<Room>(
    `update rooms r set policy = $3 where r.tenant_id = $1 and r.uid = $2 returning ${ROOM}`,
    [tenant, uid, policy],
  );
  return rows[0]!;
}

export async function markEnded(tx: Tx, tenant: TenantId, uid: string, reason: EndReason): Promise<Room> {
  const { rows } = await tx.query<Room>(
    `update rooms r set state = 'ENDED', ended_at = clock_timestamp(), end_reason = $3
      where r.tenant_id = $1 and r.uid = $2 returning ${ROOM}`,
    [tenant, uid, reason],
  );
  return rows[0]!;
}
