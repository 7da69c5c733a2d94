/**
 * Admit a user to a room, and mint a token that is bound to the device's key.
 *
 * Device joins and back-end mints both end here, each after its own checks.
 */

import { type MintedToken, mintToken, type TokenDeps } from '../../access/tokens/mint-token.ts';
import { skeleton } from '../../access/usernames/skeleton.ts';
import type { ConfusableUsernames } from '../../access/usernames/username.ts';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure } from '../../base/failure.ts';
import type { CallQueue } from '../../base/tenants/call-queue.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import type { RateCards } from '../../money/pricing/rate-cards.ts';
import { takeHold } from '../budgets/take-hold.ts';
import { withhold } from '../rooms/participant.ts';
import type { RoomPolicy } from '../rooms/room.ts';
import { lockRoom } from '../rooms/rooms.sql.ts';
import { findAssignedUntil } from '../sessions/session-cursors.sql.ts';
import { enterAlone, enterIn, renewAlone, renewIn } from './admission-forms.sql.ts';
import { type Admission, countOthers, type NewAdmission, type upsertAdmission } from './admissions.sql.ts';
import type { EntryState } from './entry-state.sql.ts';
import type { GatheredAdmissions } from './gathered-admissions.ts';
import { refuseLookalike } from './refuse-lookalike.ts';
import { refuseManyDevices } from './refuse-many-devices.ts';

export interface AdmissionDeps extends EventDeps, TokenDeps {
  readonly admissions: GatheredAdmissions;
  /** For what is not gathered, because it may wait for a lock. */
  readonly calls: CallQueue;
  /** The price of holds. */
  readonly rates: RateCards;
  readonly config: TokenDeps['config'] & { readonly confusableUsernames: ConfusableUsernames };
}

export interface Entry extends Omit<NewAdmission, 'skeleton'>, Pick<EntryState, 'isAdmitted' | 'devices'> {
  /** Name of the room. */
  readonly room: string;
  readonly policy: RoomPolicy;
  /** The tenant's salt for hashed ranges of addresses, for the token. */
  readonly rangeSalt: string;
  /** Whether the user was in the room when `check` read it. */
  readonly isPresent: boolean;
  /** Whether no user of that name had ever been in the room then. */
  readonly isNew: boolean;
  /** Whether the token has to take a hold of budgets. */
  readonly hasBudgets: boolean;
  /** Lowest-priority check (credit of a mint): runs after all others, just before the user is admitted. */
  readonly lastCheck: () => void;
}

export interface Admitted extends MintedToken {
  readonly roomUid: string;
  /** The requested capabilities that a moderator has taken away. */
  readonly withheld: readonly string[];
}

/** `budgets`: the uids of hard budgets that hold what the token can cost. */
type BudgetedAdmission = Admission & { readonly budgets?: readonly string[] };

/**
 * `check` reads the entry state and throws if it refuses. It is called again if the participant changed
 * between the check and the renewal: a kick or a ban may have happened in between.
 *
 * Also fails with `room_ended`, `room_full`, `quota_exceeded`, `budget_reached`, `username_confusable` and, for joins, `username_taken`.
 */
export async function admit(
  deps: AdmissionDeps,
  caller: LimitedCaller,
  check: () => Promise<Entry>,
): Promise<Admitted> {
  const found = await check();
  await refuseManyDevices(deps.db, found);
  const renewed = found.isPresent ? await renew(deps, caller, found) : undefined;
  if (renewed) return mintFor(deps, found, renewed);
  const entry = found.isPresent ? await check() : found;
  const admission = await enter(deps, caller, entry);
  if (admission.eventful) deps.events.wake(entry.tenant);
  return mintFor(deps, entry, admission);
}

async function mintFor(deps: AdmissionDeps, entry: Entry, admission: BudgetedAdmission): Promise<Admitted> {
  const { issuedAt, kid, epoch, budgets, ...restrictions } = admission;
  const { granted, withheld } = withhold(entry.capabilities, restrictions);
  const minted = await mintToken(deps, kid, {
    issuedAt,
    lifetimeSeconds: entry.lifetimeSeconds,
    tenant: entry.tenant,
    username: entry.username,
    thumbprint: entry.thumbprint,
    room: entry.room,
    roomUid: entry.roomUid,
    role: entry.role,
    rank: entry.rank,
    capabilities: granted,
    epoch,
    keyId: entry.keyId,
    rangeSalt: entry.rangeSalt,
    policy: entry.policy,
    budgets,
  });
  return { ...minted, withheld, roomUid: entry.roomUid };
}

async function renew(
  deps: AdmissionDeps,
  caller: LimitedCaller,
  entry: Entry,
): Promise<BudgetedAdmission | undefined> {
  entry.lastCheck();
  if (entry.hasBudgets) {
    return deps.calls.run(caller, () =>
      inTransaction(deps.db, async (tx) => {
        const renewed = await renewIn(tx, entry);
        return renewed && hold(tx, deps, entry, renewed);
      }),
    );
  }
  const waiting = () => deps.calls.run(caller, () => renewAlone(deps.db, entry));
  return (await deps.admissions.renew(entry)) ?? (await waiting());
}

async function enter(deps: AdmissionDeps, caller: LimitedCaller, entry: Entry): Promise<BudgetedAdmission> {
  const admission = { ...entry, skeleton: skeleton(entry.username) };
  const { maxParticipants } = entry.policy;
  const refusesLookalikes = deps.config.confusableUsernames === 'refuse';
  if (maxParticipants === 0 && !refusesLookalikes && !entry.hasBudgets) {
    entry.lastCheck();
    const waiting = () => deps.calls.run(caller, () => enterAlone(deps.db, admission));
    return orRefuse((await deps.admissions.enter(admission, entry)) ?? (await waiting()));
  }
  const isLimited = maxParticipants > 0 && !entry.isPresent;
  const enterInTransaction = async (tx: Tx) => {
    // The outcome depends on who else is present, so entries are serialized.
    if (maxParticipants > 0 || refusesLookalikes) await lockRoom(tx, admission.tenant, admission.roomUid);
    if (isLimited && (await countOthers(tx, admission, maxParticipants)) >= maxParticipants) {
      throw new Failure('room_full');
    }
    if (refusesLookalikes) await refuseLookalike(tx, admission);
    entry.lastCheck();
    const admitted = orRefuse(await enterIn(tx, admission));
    return entry.hasBudgets ? hold(tx, deps, entry, admitted) : admitted;
  };
  return deps.calls.run(caller, () => inTransaction(deps.db, enterInTransaction));
}

async function hold(
  tx: Tx,
  { rates }: AdmissionDeps,
  entry: Entry,
  admission: Admission,
): Promise<BudgetedAdmission> {
  const deps = { rates, findSpentUntil: findAssignedUntil };
  return { ...admission, budgets: await takeHold(tx, deps, entry, admission.issuedAt) };
}

function orRefuse(outcome: Awaited<ReturnType<typeof upsertAdmission>>): Admission {
  if (typeof outcome === 'string') throw new Failure(outcome);
  return outcome;
}
