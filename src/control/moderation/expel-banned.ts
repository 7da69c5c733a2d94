/** Expel the users that a ban covers. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { NewEvent } from '../../events/event.ts';
import type { Subject } from '../bans/ban.ts';
import { type BannedUser, expel, findUsers, findUsersOfDevice } from '../rooms/participants.sql.ts';
import { removeDevices } from '../rooms/remove-device.sql.ts';
import { participantExpelled, participantUpdated } from '../rooms/room-events.ts';
import { lockRooms } from '../rooms/rooms.sql.ts';

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
 * A ban of a device is about that device alone: its users stay with their other devices.
 *
 * Returns the events of the users who left, and of those who lost a device. All rooms are locked first, in
 * the order in which every transaction locks several rooms.
 */
export async function expelBanned(
  tx: Tx,
  tenant: TenantId,
  users: readonly BannedUser[],
  subject: Subject,
): Promise<NewEvent[]> {
  const present = Map.groupBy(
    users.filter((each) => each.isPresent),
    (each) => each.roomUid,
  );
  if (present.size === 0) return [];
  const rooms = [...present.keys()].sort();
  await lockRooms(tx, tenant, rooms);
  const events: NewEvent[] = [];
  for (const roomUid of rooms) {
    const usernames = present.get(roomUid)!.map((each) => each.username);
    const staying =
      subject.kind === 'device'
        ? await removeDevices(tx, tenant, roomUid, { thumbprint: subject.value }, usernames)
        : [];
    const leaving = usernames.filter((name) => !staying.some((each) => each.username === name));
    const left = await expel(tx, tenant, roomUid, 'banned', leaving);
    events.push(...left.map(participantExpelled), ...staying.map(participantUpdated));
  }
  return events;
}
