/** SQL that finds rooms by name. An index has whole names, and none has beginnings. */
import { type Condition, filtered } from '../../base/db/filtered.ts';
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Room, RoomState } from './room.ts';
import { ROOM } from './rooms.sql.ts';

export interface SearchedRooms {
  readonly state: RoomState;
  /** The uid of the last room of the previous page, or of those that were looked at for it. */
  readonly after: string | undefined;
}

/** Rooms of one name, the newest first. */
export async function findRoomsOfName(
  db: Db,
  tenant: TenantId,
  name: string,
  { state, after, limit }: SearchedRooms & { readonly limit: number },
): Promise<Room[]> {
  const filter = filtered('find-rooms-of-name', [tenant, limit, name], {
    ...ofState(state),
    after: after && [
      'r.incarnation < (select incarnation from rooms where tenant_id = $1 and uid = ? and name = $3)',
      after,
    ],
  });
  const { rows } = await db.query<Room>({
    name: filter.name,
    text: `select ${ROOM} from rooms r where r.tenant_id = $1 and r.name = $3 ${filter.where}
            order by r.incarnation desc limit $2`,
    values: filter.values,
  });
  return rows;
}

/** Rooms whose names begin with `beginning`, the newest first, among the newest `lookAt` after `after`. */
export async function findRoomsThatBegin(
  db: Db,
  tenant: TenantId,
  beginning: string,
  { state, after, lookAt, limit }: SearchedRooms & { readonly lookAt: number; readonly limit: number },
): Promise<Room[]> {
  const filter = filtered('find-rooms-that-begin', [tenant, limit, beginning, lookAt], {
    ...ofState(state),
    ...olderThan(after),
  });
  const { rows } = await db.query<Room>({
    name: filter.name,
    text: `select ${ROOM}
             from (select * from rooms r where r.tenant_id = $1 ${filter.where}
                    order by r.created_at desc, r.uid desc limit $4) r
            where left(r.name, length($3)) = $3
            order by r.created_at desc, r.uid desc limit $2`,
    values: filter.values,
  });
  return rows;
}

/** The last one of the newest `lookAt` rooms after `after`; `undefined`: there are not so many. */
export async function findLastLookedAt(
  db: Db,
  tenant: TenantId,
  { state, after, lookAt }: SearchedRooms & { readonly lookAt: number },
): Promise<Pick<Room, 'uid' | 'createdAt'> | undefined> {
  const filter = filtered('find-last-looked-at', [tenant, lookAt - 1], {
    ...ofState(state),
    ...olderThan(after),
  });
  const { rows } = await db.query<Pick<Room, 'uid' | 'createdAt'>>({
    name: filter.name,
    text: `select r.uid, r.created_at as "createdAt" from rooms r where r.tenant_id = $1 ${filter.where}
            order by r.created_at desc, r.uid desc offset $2 limit 1`,
    values: filter.values,
  });
  return rows[0];
}

/** Constants, because an index of live rooms does not serve a parameter. */
function ofState(state: RoomState): Readonly<Record<string, Condition>> {
  return {
    live: state === 'LIVE' && [`r.state = 'LIVE'`],
    ended: state === 'ENDED' && [`r.state = 'ENDED'`],
  };
}

function olderThan(after: string | undefined): Readonly<Record<string, Condition>> {
  return {
    after: after && [
      '(r.created_at, r.uid) < (select created_at, uid from rooms where tenant_id = $1 and uid = ?)',
      after,
    ],
  };
}
