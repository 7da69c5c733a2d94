/**
 * Applies new bans once more, to users who entered while the ban was being set.
 *
 * An entry checks the bans that are committed at that moment, and a ban expels the users who are present at
 * that moment. Two concurrent transactions may miss each other; this expels the users they missed.
 */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { lockBan } from '../bans/bans.sql.ts';
import { lockRoomByName } from '../rooms/rooms.sql.ts';
import { type BanScope, findBrokenBans } from './broken-bans.sql.ts';
import { expelBanned, findBannedUsers } from './expel-banned.ts';

/** Longer than a call that sets a ban and a call that admits a user take together. */
const NEW_SECONDS = 30;
const BANS_AT_ONCE = 100;

/** Several processes may run this at once: each user leaves once. */
export async function reapplyNewBans(deps: Pick<EventDeps, 'db' | 'events'>): Promise<void> {
  const broken = await findBrokenBans(deps.db, { seconds: NEW_SECONDS, limit: BANS_AT_ONCE });
  for (const scope of broken) {
    await inTransaction(deps.db, (tx) => reapply(tx, scope));
    deps.events.wake(scope.tenant);
  }
}

async function reapply(tx: Tx, { tenant, room, subject }: BanScope): Promise<void> {
  const uid = room === null ? null : (await lockRoomByName(tx, tenant, room))?.uid;
  // It may have been lifted meanwhile.
  if (uid === undefined || !(await lockBan(tx, tenant, room, subject))) return;
  const users = await findBannedUsers(tx, tenant, uid, subject);
  const outcome = await expelBanned(tx, tenant, users, subject);
  if (outcome.length > 0) await appendEvents(tx, tenant, outcome);
}
