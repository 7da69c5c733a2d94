/** Admits one user, by one statement, or in steps where tables are distributed. Waits for locks. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction, repeatOnConflict } from '../../base/db/transaction.ts';
import {
  type Admission,
  type Admitting,
  type NewAdmission,
  type Renewal,
  renewAdmission,
  upsertAdmission,
} from './admissions.sql.ts';
import { renewInSteps, upsertInSteps } from './admit-in-steps.sql.ts';

export function renewAlone(db: Pool, renewal: Renewal): Promise<Admission | undefined> {
  return isDistributed()
    ? inTransaction(db, (tx) => renewInSteps(tx, renewal))
    : repeatOnConflict(() => renewAdmission(db, renewal));
}

export function enterAlone(db: Pool, admission: NewAdmission): Promise<Admitting | 'room_ended'> {
  return isDistributed()
    ? inTransaction(db, (tx) => upsertInSteps(tx, admission))
    : repeatOnConflict(() => upsertAdmission(db, admission));
}

/** In a transaction that has locked the room. */
export function enterIn(tx: Tx, admission: NewAdmission): Promise<Admitting | 'room_ended'> {
  return isDistributed() ? upsertInSteps(tx, admission) : upsertAdmission(tx, admission);
}
