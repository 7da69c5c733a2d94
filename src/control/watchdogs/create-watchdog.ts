/** Arm a watchdog on a live room. */
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { assertBelowLimit, limitOf } from '../../base/tenants/limits.ts';
import { takePlace } from '../../base/tenants/places.sql.ts';
import { authorizeActor } from '../rooms/authorize-actor.ts';
import { getLockedRoom, refuseEnded } from '../rooms/get-room.ts';
import { auditPerson, type Moderator } from '../rooms/moderator.ts';
import type { ActorName } from '../rooms/participant.ts';
import {
  auditedRule,
  ROOM_WATCHDOGS_LIMIT,
  WATCHDOGS_LIMIT,
  type Watchdog,
  type WatchdogRule,
} from './watchdog.ts';
import { countWaiting, insertWatchdog } from './watchdogs.sql.ts';

/**
 * `rule` must have passed `refuseImpossible()`. Fails with `not_found`, `capability_required`, `room_ended`,
 * with `watchdog_exists` while the room has a waiting watchdog with this condition, and with
 * `quota_exceeded`.
 */
export async function createWatchdog(
  tx: Tx,
  caller: Moderator,
  { room: name, rule, actor }: { room: string; rule: WatchdogRule; actor: ActorName | undefined },
): Promise<Watchdog> {
  const { tenant } = caller;
  const room = await getLockedRoom(tx, tenant, name);
  await authorizeActor(tx, caller, room, actor, 'watchdog.manage');
  refuseEnded(room);
  const watchdog = await insertWatchdog(tx, tenant, room.uid, rule);
  if (!watchdog) throw new Failure('watchdog_exists');

  const holder = limitHolderOf(caller);
  // The lock of the room serializes this count.
  const most = limitOf(holder, ROOM_WATCHDOGS_LIMIT) + 1;
  const held = await countWaiting(tx, tenant, { roomUid: room.uid, most });
  assertBelowLimit(holder, ROOM_WATCHDOGS_LIMIT, held - 1);
  await takePlace(tx, holder, WATCHDOGS_LIMIT, (most) => countWaiting(tx, tenant, { most }));
  const after = auditedRule(watchdog);
  await auditPerson(tx, caller, { action: 'watchdog_created', subject: watchdog.id, before: null, after });
  return watchdog;
}
