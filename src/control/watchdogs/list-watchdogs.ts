/** A page of watchdogs, the newest first. */
import type { Db } from '../../base/db/pool.ts';
import { readPage } from '../../base/lib/page.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { authorizeActor } from '../rooms/authorize-actor.ts';
import { getRoom } from '../rooms/get-room.ts';
import type { ActorName } from '../rooms/participant.ts';
import type { Watchdog, WatchdogPosition } from './watchdog.ts';
import { findWatchdogs } from './watchdogs.sql.ts';

export interface WatchdogPage {
  readonly watchdogs: readonly Watchdog[];
  /** Where the next page starts; `undefined`: there is none. */
  readonly end: WatchdogPosition | undefined;
}

/**
 * Without `room`, watchdogs of all rooms. Fails with `not_found` and, for an actor, `capability_required`.
 */
export async function listWatchdogs(
  db: Db,
  tenant: TenantId,
  options: {
    room: string | undefined;
    after: WatchdogPosition | undefined;
    size: number;
    actor: ActorName | undefined;
  },
): Promise<WatchdogPage> {
  const { room: name, actor, size } = options;
  const room = name === undefined ? null : await getRoom(db, tenant, { name, uid: undefined });
  await authorizeActor(db, { tenant }, room, actor, 'watchdog.manage');
  const find = (limit: number) => findWatchdogs(db, tenant, { ...options, roomUid: room?.uid, limit });
  const { items: watchdogs, end } = await readPage(size, find);
  return { watchdogs, end };
}
