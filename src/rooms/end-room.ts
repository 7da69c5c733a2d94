/** End a room: everybody leaves, and every token for it is void. */
import type { Tx } from '../db/pool.ts';
import { appendEvents } from '../events/events.sql.ts';
import { expel } from '../participants/participants.sql.ts';
import type { TenantId } from '../tenants/tenant.ts';
import { disarmWatchdogs } from '../watchdogs/watchdogs.sql.ts';
import type { EndReason, Room } from './room.ts';
import { markEnded } from './rooms.sql.ts';

/** `room` is live, and locked. */
export async function endRoom(tx: Tx, tenant: TenantId, room: Room, reason: EndReason): Promise<Room> {
  const left = await expel(tx, tenant, room.uid, reason === 'watchdog' ? 'watchdog' : 'ended');
  await disarmWatchdogs(tx, tenant, room.uid);
  const ended = await markEnded(tx, tenant, room.uid, reason);
  await appendEvents(tx, tenant, [
    ...left.map((subject) => ({ roomUid: room.uid, what: { type: 'participant_left', subject } as const })),
    { roomUid: room.uid, what: { type: 'room_ended', subject: ended }, revokes: true },
  ]);
  return ended;
}
