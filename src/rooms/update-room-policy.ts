/** Change some of the rules of a live room. */
import type { Tx } from '../db/pool.ts';
import { appendEvents } from '../events/events.sql.ts';
import { type ActorName, authorizeActor } from '../participants/actor.ts';
import type { TenantId } from '../tenants/tenant.ts';
import { getLockedRoom, refuseEnded } from './get-room.ts';
import type { Room, RoomPolicy } from './room.ts';
import { updatePolicy } from './rooms.sql.ts';

/** Rules that can be changed. */
export type PolicyChange = Partial<
  Omit<RoomPolicy, 'mode' | 'e2eeRequired' | 'ageVerificationRequired' | 'region'>
>;

/** Fails with `not_found`, `capability_required` and `room_ended`. */
export async function updateRoomPolicy(
  tx: Tx,
  tenant: TenantId,
  { name, change, actor }: { name: string; change: PolicyChange; actor: ActorName | undefined },
): Promise<Room> {
  const room = await getLockedRoom(tx, tenant, name);
  await authorizeActor(tx, tenant, room, actor, 'room.update_policy');
  refuseEnded(room);
  const updated = await updatePolicy(tx, tenant, room.uid, { ...room.policy, ...change });
  await appendEvents(tx, tenant, [{ roomUid: room.uid, what: { type: 'room_updated', subject: updated } }]);
  return updated;
}
