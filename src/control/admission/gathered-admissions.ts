/**
 * Joins and mints that come at the same time share their statements: one reads what decides about all of them,
 * one renews those who are present, and one admits those who enter.
 *
 * None of these statements waits for a lock, so that a locked room or participant delays no others: those
 * whose rows are locked are left out, and wait alone.
 *
 * Where tables are distributed, users of different tenants are on different servers: only those of one tenant share
 * statements, and each who enters goes alone.
 */
import { isDistributed } from '../../base/db/distribution.ts';
import { Gather, type GatherOptions } from '../../base/db/gather.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction, repeatOnConflict } from '../../base/db/transaction.ts';
import {
  type Admission,
  type Admitting,
  type NewAdmission,
  type Renewal,
  renewFreeAdmissions,
  upsertFreeAdmissions,
} from './admissions.sql.ts';
import { renewFreeInSteps } from './admit-in-steps.sql.ts';
import {
  type Entrant,
  type EntryState,
  findEntryStates,
  findEntryStatesOfTenant,
} from './entry-state.sql.ts';

const TOGETHER_MAX = 32;
/** A statement changes each participant once. */
const BY_PARTICIPANT: GatherOptions<Renewal> = {
  max: TOGETHER_MAX,
  nameOf: ({ tenant, roomUid, username }) => `${tenant} ${roomUid} ${username}`,
};
/** On different servers, more are under way. */
const BY_TENANT: GatherOptions<Pick<Entrant, 'tenant'>> = {
  max: TOGETHER_MAX,
  groupOf: ({ tenant }) => tenant,
  statements: 4,
};

export class GatheredAdmissions {
  readonly #states: Gather<Entrant, EntryState>;
  readonly #renewals: Gather<Renewal, Admission | undefined>;
  readonly #joins: Gather<NewAdmission, Admitting | undefined>;
  readonly #mints: Gather<NewAdmission, Admitting | undefined>;

  constructor(db: Pool) {
    const enter = (mayLower: boolean) => (admissions: readonly NewAdmission[]) =>
      repeatOnConflict(() => upsertFreeAdmissions(db, admissions, mayLower));
    this.#states = isDistributed()
      ? new Gather<Entrant, EntryState>((entrants) => findEntryStatesOfTenant(db, entrants), BY_TENANT)
      : new Gather((entrants) => findEntryStates(db, entrants), { max: TOGETHER_MAX });
    this.#renewals = isDistributed()
      ? new Gather((renewals) => inTransaction(db, (tx) => renewFreeInSteps(tx, renewals)), {
          ...BY_PARTICIPANT,
          ...BY_TENANT,
        })
      : new Gather((renewals) => repeatOnConflict(() => renewFreeAdmissions(db, renewals)), BY_PARTICIPANT);
    this.#joins = new Gather(enter(false), BY_PARTICIPANT);
    this.#mints = new Gather(enter(true), BY_PARTICIPANT);
  }

  findState(entrant: Entrant): Promise<EntryState> {
    return this.#states.ask(entrant);
  }

  /** `undefined`: the participant is locked, or has left or changed, and `renewAdmission()` tells which. */
  renew(renewal: Renewal): Promise<Admission | undefined> {
    return this.#renewals.ask(renewal);
  }

  /** `undefined`: the room or the participant is locked, or the room has ended: `upsertAdmission()` tells which. */
  enter(admission: NewAdmission): Promise<Admitting | undefined> {
    if (isDistributed()) return Promise.resolve(undefined);
    return (admission.mayLower ? this.#mints : this.#joins).ask(admission);
  }
}
