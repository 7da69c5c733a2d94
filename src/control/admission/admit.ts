/**
 * Let a user into a room: an admission, and a token that is bound to the device's key.
 *
 * Joins of devices and mints of back ends end here, after each has checked what is its own to check.
 */

import { type MintedToken, mintToken } from '../../access/tokens/mint-token.ts';
import { skeleton } from '../../access/usernames/skeleton.ts';
import { inTransaction, repeatOnConflict } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import type { Deps } from '../../doors/deps.ts';
import { withhold } from '../rooms/participant.ts';
import {
  type Admission,
  countOthers,
  hasLookalike,
  type NewAdmission,
  renewAdmission,
  upsertAdmission,
} from '../rooms/participants.sql.ts';
import type { RoomPolicy } from '../rooms/room.ts';
import { lockRoom } from '../rooms/rooms.sql.ts';
import { wakeWatchdogs } from '../watchdogs/watchdogs.sql.ts';

export interface Entry extends Omit<NewAdmission, 'skeleton'> {
  /** Name of the room. */
  readonly room: string;
  readonly policy: RoomPolicy;
  /** Whether the user was in the room a moment ago. */
  readonly isPresent: boolean;
  /** Throws what is told only where nothing else is wrong. */
  readonly lastCheck: () => void;
}

export interface Admitted extends MintedToken {
  readonly roomUid: string;
  /** Of the capabilities asked for, those that a moderator has taken. */
  readonly withheld: readonly string[];
}

/** Whoever is in a room may renew, however full and locked it is. */
export function refuseNewcomer({ locked }: RoomPolicy, isInside: boolean): void {
  if (locked && !isInside) throw new Failure('room_locked');
}

/**
 * `check` reads who wants to come in, and throws where he may not. It is asked once more where somebody
 * who was present is not as he was found: a kick or a ban may have come in between.
 *
 * Fails with `room_ended`, `room_full` and `username_confusable` besides.
 */
export async function admit(deps: Deps, check: () => Promise<Entry>): Promise<Admitted> {
  const found = await check();
  const renewed = found.isPresent ? await renew(deps, found) : undefined;
  if (renewed) return mintFor(deps, found, renewed);
  const entry = found.isPresent ? await check() : found;
  const admission = await enter(deps, entry);
  if (admission.eventful) deps.events.wake(entry.tenant);
  if (admission.leavesAsleep) {
    await repeatOnConflict(() => wakeWatchdogs(deps.db, entry.tenant, entry.roomUid));
  }
  return mintFor(deps, entry, admission);
}

async function mintFor(deps: Deps, entry: Entry, admission: Admission): Promise<Admitted> {
  const { issuedAt, kid, epoch, ...restrictions } = admission;
  const { granted, withheld } = withhold(entry.capabilities, restrictions);
  const minted = await mintToken(deps, kid, {
    issuedAt,
    lifetimeSeconds: entry.lifetimeSeconds,
    tenant: entry.tenant,
    username: entry.username,
    thumbprint: entry.device,
    room: entry.room,
    roomUid: entry.roomUid,
    role: entry.role,
    rank: entry.rank,
    capabilities: granted,
    epoch,
    keyId: entry.keyId,
  });
  return { ...minted, withheld, roomUid: entry.roomUid };
}

function renew(deps: Deps, entry: Entry): Promise<Admission | undefined> {
  entry.lastCheck();
  return repeatOnConflict(() => renewAdmission(deps.db, entry));
}

async function enter(deps: Deps, entry: Entry): Promise<Admission> {
  const admission = { ...entry, skeleton: skeleton(entry.username) };
  const { maxParticipants } = entry.policy;
  const refusesLookalikes = deps.config.confusableUsernames === 'refuse';
  if (maxParticipants === 0 && !refusesLookalikes) {
    entry.lastCheck();
    return isLive(await repeatOnConflict(() => upsertAdmission(deps.db, admission)));
  }
  // Who else is there decides, so one comes in after the other.
  return inTransaction(deps.db, async (tx) => {
    await lockRoom(tx, admission.tenant, admission.roomUid);
    const isLimited = maxParticipants > 0 && !entry.isPresent;
    if (isLimited && (await countOthers(tx, admission, maxParticipants)) >= maxParticipants) {
      throw new Failure('room_full');
    }
    if (refusesLookalikes && (await hasLookalike(tx, admission)))
      throw new Failure('username_confusable', { field: 'username' });
    entry.lastCheck();
    return isLive(await upsertAdmission(tx, admission));
  });
}

function isLive(admission: Admission | undefined): Admission {
  if (!admission) throw new Failure('room_ended');
  return admission;
}
