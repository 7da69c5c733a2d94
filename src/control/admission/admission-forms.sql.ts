/** Which statements admit users: those of one server, or those in steps where tables are distributed. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { GatherOptions } from '../../base/db/gather.ts';
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction, isLockTimeout, repeatOnConflict } from '../../base/db/transaction.ts';
import {
  type Admission,
  type Admitting,
  insertNewcomers,
  type NewAdmission,
  type Renewal,
  renewAdmission,
  renewFreeAdmissions,
  upsertAdmission,
  upsertFreeAdmissions,
} from './admissions.sql.ts';
import { renewFreeInSteps, renewInSteps, upsertInSteps } from './admit-in-steps.sql.ts';
import {
  type Entrant,
  type EntryState,
  findEntryStates,
  findEntryStatesOfTenant,
} from './entry-state.sql.ts';

/** Users of different tenants may be on different servers: only those of one tenant share statements, and more are under way. */
export function sharedBy(): GatherOptions<Pick<Entrant, 'tenant'>> {
  return isDistributed() ? { groupOf: ({ tenant }) => tenant, statements: 4 } : {};
}

/** What `sharedBy()` lets share a statement. */
export function findStates(db: Pool, entrants: readonly Entrant[]): Promise<readonly EntryState[]> {
  return isDistributed() ? findEntryStatesOfTenant(db, entrants) : findEntryStates(db, entrants);
}

/** What `sharedBy()` lets share a statement. `undefined`: locked, left or changed; `renewAlone()` tells which. */
export function renewFree(
  db: Pool,
  renewals: readonly Renewal[],
): Promise<readonly (Admission | undefined)[]> {
  const renewed = isDistributed()
    ? inTransaction(db, (tx) => renewFreeInSteps(tx, renewals))
    : repeatOnConflict(() => renewFreeAdmissions(db, renewals));
  return renewed.catch((error) => leftOut(renewals, error));
}

/**
 * `undefined`: the room or the participant is locked, or the room has ended; `enterAlone()` tells which. Where tables
 * are distributed, each who enters goes alone.
 */
export async function enterFree(
  db: Pool,
  admissions: readonly NewAdmission[],
  mayLower: boolean,
): Promise<readonly (Admitting | undefined)[]> {
  if (isDistributed()) return admissions.map(() => undefined);
  const entered = repeatOnConflict(() => upsertFreeAdmissions(db, admissions, mayLower));
  return entered.catch((error) => leftOut(admissions, error));
}

/** `undefined`: not new, or left out for the reasons of `enterFree()`, which tells which. */
export async function enterNew(
  db: Pool,
  admissions: readonly NewAdmission[],
): Promise<readonly (Admission | undefined)[]> {
  if (isDistributed()) return admissions.map(() => undefined);
  const entered = repeatOnConflict(() => insertNewcomers(db, admissions));
  return entered.catch((error) => leftOut(admissions, error));
}

/** One that waited too long, for a lock that its statement cannot skip, is left out. Several are asked for again, each alone. */
function leftOut(asked: readonly unknown[], error: unknown): undefined[] {
  if (asked.length > 1 || !isLockTimeout(error)) throw error;
  return [undefined];
}

/** Waits for locks. */
export function renewAlone(db: Pool, renewal: Renewal): Promise<Admission | undefined> {
  return isDistributed()
    ? inTransaction(db, (tx) => renewInSteps(tx, renewal))
    : repeatOnConflict(() => renewAdmission(db, renewal));
}

/** Waits for locks. */
export function enterAlone(db: Pool, admission: NewAdmission): Promise<Admitting | 'room_ended'> {
  return isDistributed()
    ? inTransaction(db, (tx) => upsertInSteps(tx, admission))
    : repeatOnConflict(() => upsertAdmission(db, admission));
}

/** In a transaction. Waits for locks. */
export function renewIn(tx: Tx, renewal: Renewal): Promise<Admission | undefined> {
  return isDistributed() ? renewInSteps(tx, renewal) : renewAdmission(tx, renewal);
}

/** In a transaction, which may have locked the room. */
export function enterIn(tx: Tx, admission: NewAdmission): Promise<Admitting | 'room_ended'> {
  return isDistributed() ? upsertInSteps(tx, admission) : upsertAdmission(tx, admission);
}
