/** Find the watchdog that a call is about. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { notFound } from '../../base/failure.ts';
import { authorizeActor } from '../rooms/authorize-actor.ts';
import type { Moderator } from '../rooms/moderator.ts';
import type { ActorName } from '../rooms/participant.ts';
import { lockRoom } from '../rooms/rooms.sql.ts';
import type { Watchdog } from './watchdog.ts';
import { findWatchdog, lockWatchdog } from './watchdogs.sql.ts';

/** Fails with `not_found` and, for an actor, `capability_required`. */
export async function getWatchdog(
  db: Db,
  caller: Pick<Moderator, 'tenant' | 'within'>,
  { id, actor }: { id: string; actor: ActorName | undefined },
): Promise<Watchdog> {
  const watchdog = await findWatchdog(db, caller.tenant, id);
  if (!watchdog) throw notFound('watchdog');
  await authorizeActor(db, caller, { uid: watchdog.roomUid, name: watchdog.room }, actor, 'watchdog.manage');
  return watchdog;
}

/** Like `getWatchdog()`, with the room and the watchdog locked. */
export async function getLockedWatchdog(
  tx: Tx,
  caller: Pick<Moderator, 'tenant' | 'within'>,
  reference: { id: string; actor: ActorName | undefined },
): Promise<Watchdog> {
  const { roomUid } = await getWatchdog(tx, caller, reference);
  const { tenant } = caller;
  await lockRoom(tx, tenant, roomUid);
  await lockWatchdog(tx, { tenant, id: reference.id });
  return getWatchdog(tx, caller, reference);
}
