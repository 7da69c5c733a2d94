/**
 * Whether the actor of a call may act, and with what rank: the tenant itself, or a participant who may act on others.
 *
 * A participant acts with the capabilities and the rank of the newest token of the named device.
 */

import type { Capability } from '../../access/rights/capabilities.ts';
import { DEFAULT_CEILING, type KeyCeiling, refuseWiderCeiling } from '../../access/rights/key-ceiling.ts';
import type { Db } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { Moderator } from './moderator.ts';
import type { ActorName } from './participant.ts';
import { findActor } from './participants.sql.ts';
import { OWNER, type Standing } from './rank.ts';

/**
 * The tenant may do everything; a session by key, what its ceiling allows. A participant needs the capability and a
 * valid token for the room. Without a room (`null`), every participant is refused.
 */
export async function authorizeActor(
  db: Db,
  { tenant, within }: Pick<Moderator, 'tenant' | 'within'>,
  room: { readonly uid: string; readonly name?: string } | null,
  actor: ActorName | undefined,
  capability: Capability,
): Promise<Standing> {
  if (!actor) return within === undefined ? OWNER : standingWithin(within, room?.name ?? '*', capability);
  const found = room && (await findActor(db, tenant, room.uid, actor));
  if (!found?.capabilities.includes(capability)) {
    throw new Failure('capability_required', { metadata: { capability } });
  }
  return { username: actor.username, rank: found.rank };
}

/**
 * The strongest participant that the key could mint for the room. A key whose rank was never lowered stands for the tenant.
 * Fails with `ceiling_exceeded`.
 */
function standingWithin(within: KeyCeiling, room: string, capability: Capability): Standing {
  refuseWiderCeiling(within, {
    capabilities: [capability],
    roles: [],
    rooms: [room],
    rank: 0,
    lifetimeSeconds: 0,
  });
  return within.rank < DEFAULT_CEILING.rank ? { username: null, rank: within.rank } : OWNER;
}
