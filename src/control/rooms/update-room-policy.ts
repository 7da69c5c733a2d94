/** Change some of the rules of a live room. */

import { type Capability, capabilitiesOfRole } from '../../access/rights/capabilities.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { ROLES } from '../../money/pricing/role.ts';
import { authorizeActor } from './authorize-actor.ts';
import { getLockedRoom, refuseEnded } from './get-room.ts';
import type { ActorName } from './participant.ts';
import type { Room, RoomPolicy } from './room.ts';
import { roomUpdated } from './room-events.ts';
import { updatePolicy } from './rooms.sql.ts';

/** Rules that can be changed. */
export type PolicyChange = Partial<
  Omit<RoomPolicy, 'mode' | 'e2eeRequired' | 'ageVerificationRequired' | 'region'>
>;

/**
 * Fails with `not_found`, `room_ended` and `capability_required`, also if an actor would grant roles a
 * capability that the actor lacks.
 */
export async function updateRoomPolicy(
  tx: Tx,
  tenant: TenantId,
  { name, change, actor }: { name: string; change: PolicyChange; actor: ActorName | undefined },
): Promise<Room> {
  const room = await getLockedRoom(tx, tenant, name);
  await authorizeActor(tx, { tenant }, room, actor, 'room.update_policy');
  const policy = { ...room.policy, ...change };
  for (const capability of actor ? addedCapabilities(room.policy, policy) : []) {
    await authorizeActor(tx, { tenant }, room, actor, capability);
  }
  refuseEnded(room);
  const updated = await updatePolicy(tx, tenant, room.uid, policy);
  await appendEvents(tx, tenant, [roomUpdated(updated)]);
  return updated;
}

/** The capabilities that the change adds to some role. */
function addedCapabilities(before: RoomPolicy, after: RoomPolicy): ReadonlySet<Capability> {
  return new Set(
    ROLES.flatMap((role) => {
      const old = capabilitiesOfRole(role, before);
      return capabilitiesOfRole(role, after).filter((capability) => !old.includes(capability));
    }),
  );
}
