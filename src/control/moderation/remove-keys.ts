/**
 * Takes from participants the devices whose tokens are of device credentials. Relays have ended their sessions, and refuse their
 * tokens; a user who has no other device has left.
 */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { markExpired } from '../rooms/lapses.sql.ts';
import { findUsersOfKeys } from '../rooms/participants.sql.ts';
import { endPresence, removeDevices } from '../rooms/remove-device.sql.ts';
import { participantLeft, participantUpdated } from '../rooms/room-events.ts';
import { lockRooms } from '../rooms/rooms.sql.ts';

/** `keys`: ids of device credentials. */
export async function removeKeys(tx: Tx, tenant: TenantId, keys: readonly string[]): Promise<void> {
  const find = () => findUsersOfKeys(tx, tenant, keys);
  const roomUids = [...new Set((await find()).map(({ roomUid }) => roomUid))].sort();
  if (roomUids.length === 0) return;
  await lockRooms(tx, tenant, roomUids);
  // Another process may have removed some meanwhile. It has told of them.
  const users = Map.groupBy(await find(), ({ roomUid }) => roomUid);
  for (const roomUid of roomUids) {
    const usernames = users.get(roomUid)?.map(({ username }) => username) ?? [];
    if (usernames.length > 0) await removeFromRoom(tx, tenant, { roomUid, usernames, keys });
  }
}

async function removeFromRoom(
  tx: Tx,
  tenant: TenantId,
  from: { readonly roomUid: string; readonly usernames: readonly string[]; readonly keys: readonly string[] },
): Promise<void> {
  const { roomUid, usernames, keys } = from;
  const staying = await removeDevices(tx, tenant, roomUid, { keys }, usernames);
  const leaving = usernames.filter((name) => !staying.some((each) => each.username === name));
  await endPresence(tx, tenant, roomUid, leaving);
  const left = await markExpired(tx, tenant, [roomUid], usernames.length);
  await appendEvents(tx, tenant, [...staying.map(participantUpdated), ...left.map(participantLeft)]);
}
