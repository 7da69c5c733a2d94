/**
 * On whose behalf a call is made: the tenant's own, or that of a participant who may act on others.
 *
 * A participant acts by the capabilities and the rank of the newest token of the device that is named,
 * and only on lower ranks.
 */

import type { Capability } from '../../access/rights/capabilities.ts';
import type { Db } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { ActorName } from './participant.ts';
import { findActor } from './participants.sql.ts';

/** How far somebody may go. */
export interface Standing {
  /** `null`: the tenant itself. */
  readonly username: string | null;
  readonly rank: number;
}

const OWNER: Standing = { username: null, rank: 100 };

/**
 * The tenant may do everything; an actor needs the capability, and a token for the room that is still
 * valid. Where no one room is meant (`null`) no actor has any standing.
 */
export async function authorizeActor(
  db: Db,
  tenant: TenantId,
  room: { readonly uid: string } | null,
  actor: ActorName | undefined,
  capability: Capability,
): Promise<Standing> {
  if (!actor) return OWNER;
  const found = room && (await findActor(db, tenant, room.uid, actor));
  if (!found?.capabilities.includes(capability)) {
    throw new Failure('capability_required', { metadata: { capability } });
  }
  return { username: actor.username, rank: found.rank };
}

/** One acts on lower ranks only; and never on oneself, whatever ranks one's devices have. */
export function assertOutranks(
  standing: Standing,
  target: { readonly username: string; readonly rank: number },
): void {
  if (target.rank >= standing.rank || target.username === standing.username) {
    throw new Failure('insufficient_standing');
  }
}
