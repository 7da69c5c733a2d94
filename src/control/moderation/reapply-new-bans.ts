/**
 * Applies new bans once more, to whoever came in while they were being set.
 *
 * Whoever comes in is held against the bans that stand then. One that is set in the same moment is not
 * among them, and does not find somebody who is not there yet.
 */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { type Repeating, repeat } from '../../base/lib/repeat.ts';
import type { Deps } from '../../doors/deps.ts';
import { appendEvents } from '../../events/events.sql.ts';
import { lockRoom } from '../rooms/rooms.sql.ts';
import { type BanScope, findBrokenBans, lockBan } from './bans.sql.ts';
import { expelMeant, findMeant } from './expel-meant.ts';
import { leaving } from './record-moderation.ts';

const EVERY_SECONDS = 1;
/** Longer than the call that sets a ban and one that lets somebody in take together. */
const NEW_SECONDS = 30;
const BANS_AT_ONCE = 100;

export function startEnforcingBans(deps: Deps): Repeating {
  return repeat(
    EVERY_SECONDS,
    () => enforceBans(deps),
    (error) => deps.log.warn({ err: error }, 'new bans were not applied once more'),
  );
}

/** However many processes do it, each user leaves once. */
export async function enforceBans(deps: Pick<Deps, 'db' | 'events'>): Promise<void> {
  const broken = await findBrokenBans(deps.db, { seconds: NEW_SECONDS, limit: BANS_AT_ONCE });
  for (const scope of broken) {
    await inTransaction(deps.db, (tx) => enforce(tx, scope));
    deps.events.wake(scope.tenant);
  }
}

async function enforce(tx: Tx, { tenant, roomUid, subject }: BanScope): Promise<void> {
  if (roomUid !== null) await lockRoom(tx, tenant, roomUid);
  // It may have been lifted meanwhile.
  if (!(await lockBan(tx, tenant, roomUid, subject))) return;
  const left = await expelMeant(tx, tenant, await findMeant(tx, tenant, roomUid, subject));
  if (left.length > 0) await appendEvents(tx, tenant, leaving(left));
}
