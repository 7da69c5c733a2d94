/** How many participants are present in a room, by role. */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { countRoles } from './participants.sql.ts';
import type { RoleCount, Room } from './room.ts';

/** Counting reads each participant. */
const COUNTED_MAX = 10_000;

/** `undefined`: the room has too many. */
export async function countParticipants(
  db: Db,
  tenant: TenantId,
  { uid, participantCount }: Pick<Room, 'uid' | 'participantCount'>,
): Promise<RoleCount[] | undefined> {
  return participantCount > COUNTED_MAX ? undefined : countRoles(db, tenant, uid);
}
