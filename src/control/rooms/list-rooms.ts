/** A page of a tenant's rooms, the newest first. */
import type { Db } from '../../base/db/pool.ts';
import { invalidField } from '../../base/failure.ts';
import { readPage } from '../../base/lib/page.ts';
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
  options: RoomFilter & { readonly after: string | undefined; readonly size: number },
): Promise<RoomPage> {
  const { after, size } = options;
  if (after !== undefined && !(await findRoom(db, tenant, { uid: after }))) {
    throw invalidField('page_token', 'must be one that an answer gave');
  }
  const find = (limit: number) => findRooms(db, tenant, { ...options, limit });
  const { items: rooms, end } = await readPage(size, find);
  return { rooms, end: end?.uid };
}

/** Whether the tenant ever had a room that is still kept. */
export async function hasRooms(db: Db, tenant: TenantId): Promise<boolean> {
  const any = { state: undefined, namePrefix: undefined, createdFrom: undefined, createdBefore: undefined };
  return (await findRooms(db, tenant, { ...any, after: undefined, limit: 1 })).length > 0;
}
