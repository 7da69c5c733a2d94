/**
 * Takes from participants the devices whose credential was revoked. Relays have ended their sessions, and refuse their tokens; a
 * user who has no other device has left.
 */
import type { DeviceCredentialChange } from '../../access/devices/device-credential-events.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { Listener } from '../../events/listener.ts';
import { markExpired } from '../rooms/lapses.sql.ts';
import { findUsersOfKeys } from '../rooms/participants.sql.ts';
import { endPresence, removeDevices } from '../rooms/remove-device.sql.ts';
import { participantLeft, participantUpdated } from '../rooms/room-events.ts';
import { lockRooms } from '../rooms/rooms.sql.ts';

export const credentialListener: Listener = {
  name: 'credentials',
  types: ['device_credential_revoked'],
  handle: async (tx, tenant, events) => {
    const keys = events.map(({ subject }) => (subject as DeviceCredentialChange).credential.id);
    const rooms = Map.groupBy(await findUsersOfKeys(tx, tenant, keys), ({ roomUid }) => roomUid);
    const roomUids = [...rooms.keys()].sort();
    await lockRooms(tx, tenant, roomUids);
    for (const roomUid of roomUids) {
      const usernames = rooms.get(roomUid)!.map(({ username }) => username);
      await removeKeys(tx, tenant, { roomUid, usernames, keys });
    }
  },
};

async function removeKeys(
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
