/** Find rooms by their name, or by how it begins. */
import type { Db } from '../../base/db/pool.ts';
import { readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { RoomPage } from './list-rooms.ts';
import {
  findLastLookedAt,
  findRoomsOfName,
  findRoomsThatBegin,
  type SearchedRooms,
} from './room-search.sql.ts';

/** Rooms whose names are looked at for one page, since no index has the beginnings of names. */
const LOOKED_AT = 10_000;

interface Search extends SearchedRooms {
  readonly size: number;
}

/** All rooms of this name, the newest first, however many rooms there are. */
export async function listRoomsOfName(
  db: Db,
  tenant: TenantId,
  name: string,
  { size, ...asked }: Search,
): Promise<RoomPage> {
  const { items, end } = await readPage(size, (limit) =>
    findRoomsOfName(db, tenant, name, { ...asked, limit }),
  );
  return { rooms: items, end: end?.uid };
}

export interface RoomsThatBegin extends RoomPage {
  /** Rooms that were created before were not looked at: `end` leads on to them. `undefined`: there are none. */
  readonly lookedBackTo: Date | undefined;
}

/** Rooms whose names begin so, the newest first, among the newest ones after `after`. */
export async function listRoomsThatBegin(
  db: Db,
  tenant: TenantId,
  beginning: string,
  { size, lookAt = LOOKED_AT, ...asked }: Search & { readonly lookAt?: number },
): Promise<RoomsThatBegin> {
  const { items, end } = await readPage(size, (limit) =>
    findRoomsThatBegin(db, tenant, beginning, { ...asked, lookAt, limit }),
  );
  if (end) return { rooms: items, end: end.uid, lookedBackTo: undefined };
  const last = await findLastLookedAt(db, tenant, { ...asked, lookAt });
  return { rooms: items, end: last?.uid, lookedBackTo: last?.createdAt };
}
