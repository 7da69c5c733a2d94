/** Expel the users that a ban covers. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Participant } from '../rooms/participant.ts';
import { type BannedUser, expel, findUsers, findUsersOfDevice } from '../rooms/participants.sql.ts';
import { lockRooms } from '../rooms/rooms.sql.ts';
import type { Subject } from './moderation-event.ts';

/**
 * `roomUid`: `null` means every live room. Only relays know the addresses of users, so they enforce bans of
 * address ranges.
 */
export async function findBannedUsers(
  tx: Tx,
  tenant: TenantId,
  roomUid: string | null,
  { kind, value }: Subject,
): Promise<BannedUser[]> {
  switch (kind) {
    case 'user':
      return findUsers(tx, tenant, roomUid, value);
    case 'device':
      return findUsersOfDevice(tx, tenant, roomUid, value);
    case 'cidr':
      return [];
  }
}

/**
 * Returns the users who were present. All rooms are locked first, in the order in which every transaction
 * locks several rooms.
 */
export async function expelBanned(
  tx: Tx,
  tenant: TenantId,
  users: readonly BannedUser[],
): Promise<Participant[]> {
  const present = Map.groupBy(
    users.filter((each) => each.isPresent),
    (each) => each.roomUid,
  );
  if (present.size === 0) return [];
  const rooms = [...present.keys()].sort();
  await lockRooms(tx, tenant, rooms);
  const left: Participant[] = [];
  for (const roomUid of rooms) {
    const usernames = present.get(roomUid)!.map((each) => each.username);
    left.push(...(await expel(tx, tenant, roomUid, 'banned', usernames)));
  }
  return left;
}
