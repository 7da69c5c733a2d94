/** Read the active bans. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { getRoom } from '../rooms/get-room.ts';
import type { Ban } from './ban.ts';
import { type BanFilter, findBans } from './bans.sql.ts';

export interface BansRequest extends Omit<BanFilter, 'roomUid'> {
  /** Name of a room; `undefined`: the tenant and all its rooms. */
  readonly room: string | undefined;
}

/** Newest first. Fails with `not_found` if there is no such room. */
export async function listBans(db: Db, tenant: TenantId, { room, ...filter }: BansRequest): Promise<Ban[]> {
  const found = room === undefined ? undefined : await getRoom(db, tenant, { name: room, uid: undefined });
  return findBans(db, tenant, { ...filter, roomUid: found?.uid });
}
