/**
 * Let a user into a room: an admission, and a token that is bound to the device's key.
 *
 * Joins of devices and mints of back ends end here, after each has checked what is its own to check.
 */
import { inTransaction } from '../db/transaction.ts';
import type { Deps } from '../deps.ts';
import { Failure } from '../failure.ts';
import { withhold } from '../participants/participant.ts';
import {
  type Admission,
  countOthers,
  hasLookalike,
  type NewAdmission,
  renewAdmission,
  upsertAdmission,
} from '../participants/participants.sql.ts';
import { type MintedToken, mintToken } from '../tokens/mint-token.ts';
import { skeleton } from '../usernames/skeleton.ts';
import type { RoomPolicy } from './room.ts';
import { type EntryState, lockRoom } from './rooms.sql.ts';

export interface Entry extends Omit<NewAdmission, 'skeleton'> {
  /** Name of the room. */
  readonly room: string;
  readonly policy: RoomPolicy;
  /** Whether the user was in the room a moment ago. */
  readonly isPresent: boolean;
}

export interface Admitted extends MintedToken {
  /** Of the capabilities asked for, those that a moderator has taken. */
  readonly withheld: readonly string[];
}

/** Whoever is in a room may renew, however full and locked it is. */
export function refuseNewcomer({ isPresent, policy }: Pick<EntryState, 'isPresent' | 'policy'>): void {
  if (policy?.locked && !isPresent) throw new Failure('room_locked');
}

/**
 * Fails with `room_ended`, `room_full` and `username_confusable`; with what `lastCheck` throws when
 * none of them is the case.
 */
export async function admit(deps: Deps, entry: Entry, lastCheck = () => {}): Promise<Admitted> {
  const { issuedAt, kid, epoch, eventful, ...restrictions } = await enter(deps, entry, lastCheck);
  if (eventful) deps.events.wake(entry.tenant);
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
  return { ...minted, withheld };
}

async function enter(deps: Deps, entry: Entry, lastCheck: () => void): Promise<Admission> {
  const admission = { ...entry, skeleton: skeleton(entry.username) };
  if (entry.isPresent) {
    lastCheck();
    const renewed = await renewAdmission(deps.db, admission);
    if (renewed) return renewed;
  }
  const { maxParticipants } = entry.policy;
  const refusesLookalikes = deps.config.confusableUsernames === 'refuse';
  if (maxParticipants === 0 && !refusesLookalikes) {
    lastCheck();
    return isLive(await upsertAdmission(deps.db, admission));
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
    lastCheck();
    return isLive(await upsertAdmission(tx, admission));
  });
}

function isLive(admission: Admission | undefined): Admission {
  if (!admission) throw new Failure('room_ended');
  return admission;
}
