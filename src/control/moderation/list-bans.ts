/** Read the active bans. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Ban } from '../bans/ban.ts';
import { type BanFilter, findBans } from '../bans/bans.sql.ts';
import { getRoom } from '../rooms/get-room.ts';

/** Newest first. Fails with `not_found` if there never was such a room. */
export async function listBans(db: Db, tenant: TenantId, filter: BanFilter): Promise<Ban[]> {
  const { room } = filter;
  if (room !== undefined) await getRoom(db, tenant, { name: room, uid: undefined });
  return findBans(db, tenant, filter);
}
