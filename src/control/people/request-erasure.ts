/**
 * Ask that a person is erased from what is stored about a tenant.
 *
 * The request itself deletes the person from the rooms. The rest is work for the background (`advance-erasures.ts`).
 */

import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { runTogether } from '../../base/db/pipeline.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents, FIND_BY_KEY } from '../../events/append-events.sql.ts';
import { forgetHoldsOf } from '../budgets/give-back.ts';
import { KEPT_SECONDS } from '../revocations/revocations.ts';
import { deleteUsers, findRoomsOfUsers, lockUsers } from '../rooms/old-participants.sql.ts';
import { participantLeft } from '../rooms/room-events.ts';
import { lockRooms } from '../rooms/rooms.sql.ts';
import { ERASURES_PENDING_MAX, type Erasure } from './erasure.ts';
import { addOthers, countPendingErasures, findPendingErasure, insertErasure } from './erasures.sql.ts';
import { parsePersonName, personNamed } from './person.ts';

const EXPELLED = `participant was expelled from a room less than ${Math.ceil(KEPT_SECONDS / 60)} minutes ago, and relays still have to refuse the tokens: try again later`;

/**
 * Returns the pending erasure of this name, if there is one. Fails with `invalid_request`, with `participant_present`
 * while the person is in a room or a token that a moderator made void may still be shown, and with `quota_exceeded`.
 */
export async function requestErasure(tx: Tx, actor: Actor, tenant: TenantId, text: string): Promise<Erasure> {
  const name = parsePersonName(text);
  await runTogether(tx, [FIND_BY_KEY]);
  return (await findPendingErasure(tx, tenant, name)) ?? request(tx, actor, tenant, name);
}

async function request(tx: Tx, actor: Actor, tenant: TenantId, name: string): Promise<Erasure> {
  if ((await countPendingErasures(tx, tenant)) >= ERASURES_PENDING_MAX) {
    throw new Failure('quota_exceeded', {
      message: `limit reached: at most ${ERASURES_PENDING_MAX} pending erasures`,
    });
  }
  const erasure = await insertErasure(tx, tenant, name);
  // Another request came first. If its erasure is done by now, this is a new one.
  if (!erasure) return (await findPendingErasure(tx, tenant, name)) ?? request(tx, actor, tenant, name);
  const others = await removeFromRooms(tx, tenant, personNamed(name).names);
  // Without the name, which the erasure forgets in the end.
  await appendAudit(tx, tenant, actor, {
    action: 'erasure_requested',
    subject: erasure.id,
    before: null,
    after: { state: erasure.state },
  });
  return others === 0 ? erasure : addOthers(tx, tenant, erasure.id, others);
}

/** Returns how many participants were deleted. */
async function removeFromRooms(tx: Tx, tenant: TenantId, usernames: readonly string[]): Promise<number> {
  const roomUids = await findRoomsOfUsers(tx, tenant, usernames);
  await lockRooms(tx, tenant, roomUids);
  const users = { roomUids, usernames };
  const found = await lockUsers(tx, tenant, { ...users, voidSeconds: KEPT_SECONDS });
  if (found.some(({ isPresent }) => isPresent)) throw new Failure('participant_present');
  if (found.some(({ isExpelled }) => isExpelled))
    throw new Failure('participant_present', { message: EXPELLED });
  const deleted = await deleteUsers(tx, tenant, users);
  await forgetHoldsOf(tx, tenant, usernames);
  // Readers of the events know them as present. The erasure finds these events, as all others.
  const left = deleted.flatMap(({ isUntold, ...participant }) =>
    isUntold ? [participantLeft(participant)] : [],
  );
  await appendEvents(tx, tenant, left);
  return deleted.length;
}
