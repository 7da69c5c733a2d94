/** A page of a tenant's rooms, the newest first. */
import type { Db } from '../../base/db/pool.ts';
import { invalidField } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Room } from './room.ts';
import { findRoom, findRooms, type RoomFilter } from './rooms.sql.ts';

export interface RoomPage {
  readonly rooms: readonly Room[];
  /** Uid of the last room, if there are more; `undefined`: there is no next page. */
  readonly end: string | undefined;
}

/** `after` is the `end` of the previous page. Fails if it is not a room. */
export async function listRooms(
  db: Db,
  tenant: TenantId,
  options: RoomFilter & { readonly after: string | undefined; readonly limit: number },
): Promise<RoomPage> {
  const { after, limit } = options;
  if (after !== undefined && !(await findRoom(db, tenant, { uid: after }))) {
    throw invalidField('page_token', 'must be one that an answer gave');
  }
  const found = await findRooms(db, tenant, { ...options, limit: limit + 1 });
  const rooms = found.slice(0, limit);
  return { rooms, end: found.length > limit ? rooms.at(-1)?.uid : undefined };
}
