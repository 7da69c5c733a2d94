/** Arm a watchdog on a live room. */
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { authorizeActor } from '../rooms/actor.ts';
import { getLockedRoom, refuseEnded } from '../rooms/get-room.ts';
import type { ActorName } from '../rooms/participant.ts';
import type { Watchdog, WatchdogRule } from './watchdog.ts';
import { insertWatchdog } from './watchdogs.sql.ts';

/**
 * `rule` must have passed `refuseImpossible()`. Fails with `not_found`, `capability_required`, `room_ended`
 * and, while the room has a waiting watchdog with this condition, `watchdog_exists`.
 */
export async function createWatchdog(
  tx: Tx,
  tenant: TenantId,
  { room: name, rule, actor }: { room: string; rule: WatchdogRule; actor: ActorName | undefined },
): Promise<Watchdog> {
  const room = await getLockedRoom(tx, tenant, name);
  await authorizeActor(tx, tenant, room, actor, 'watchdog.manage');
  refuseEnded(room);
  const watchdog = await insertWatchdog(tx, tenant, room.uid, rule);
  if (!watchdog) throw new Failure('watchdog_exists');
  return watchdog;
}
