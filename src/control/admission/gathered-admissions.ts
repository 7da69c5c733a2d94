/**
 * Joins and mints that come at the same time share their statements: one reads what decides about all of them,
 * one renews those who are present, and one admits those who enter.
 *
 * None of these statements waits for a lock, so that a locked room or participant delays no others: those
 * whose rows are locked are left out, and wait alone.
 */
import { Gather, type GatherOptions } from '../../base/db/gather.ts';
import { laneOf } from '../../base/db/lane.ts';
import type { Pool } from '../../base/db/pool.ts';
import { countsAsPaid, type TenantId } from '../../base/tenants/tenant.ts';
import type { ServerLanes } from '../../base/tenants/tenant-servers.ts';
import { enterFree, enterNew, findStates, renewFree, sharedBy } from './admission-forms.sql.ts';
import type { Admission, Admitting, NewAdmission, Renewal } from './admissions.sql.ts';
import type { Entrant, EntryState } from './entry-state.sql.ts';
import { findJoinLookups, type JoinLookup, type ShownCredential } from './join-lookups.sql.ts';

const TOGETHER_MAX = 32;
/** One of 128 costs half as much as one of 32. Of 512, it costs more again: each is compared with each count. */
const LOOKUPS_MAX = 128;
/** So many credentials are remembered. */
const PAID_MAX = 50_000;

export class GatheredAdmissions {
  readonly #lookups: Gather<ShownCredential, JoinLookup | undefined>;
  readonly #lookupsOfOthers: Gather<ShownCredential, JoinLookup | undefined>;
  /** Credentials whose tenants had paid when they were last shown, the first longest ago. */
  readonly #paid = new Set<string>();
  readonly #states: Gather<Entrant, EntryState>;
  readonly #statesNeverPaid: Gather<Entrant, EntryState>;
  readonly #renewals: Gather<Renewal, Admission | undefined>;
  readonly #newcomers: Gather<NewAdmission, Admission | undefined>;
  readonly #joins: Gather<NewAdmission, Admitting | undefined>;
  readonly #mints: Gather<NewAdmission, Admitting | undefined>;

  /** `servers`: where there are several database servers. */
  constructor(db: Pool, servers?: ServerLanes) {
    // Those who share a statement there are of one tenant.
    const onServer =
      <In extends { readonly tenant: TenantId }, Out>(answer: (asked: readonly In[]) => Promise<Out>) =>
      (asked: readonly In[]) =>
        servers ? servers.run(asked[0]!.tenant, () => answer(asked)) : answer(asked);
    const lane = laneOf(db);
    const options = { max: TOGETHER_MAX, lane, ...sharedBy() };
    // A statement changes each participant once.
    const byParticipant: GatherOptions<Renewal> = {
      ...options,
      nameOf: ({ tenant, roomUid, username }) => `${tenant} ${roomUid} ${username}`,
    };
    const lookups = () =>
      new Gather<ShownCredential, JoinLookup | undefined>((shown) => findJoinLookups(db, shown), {
        max: LOOKUPS_MAX,
        statements: 1,
        keyOf: ({ id }) => id,
        lane,
      });
    this.#lookups = lookups();
    this.#lookupsOfOthers = lookups();
    const states = onServer((entrants: readonly Entrant[]) => findStates(db, entrants));
    this.#states = new Gather<Entrant, EntryState>(states, options);
    this.#statesNeverPaid = new Gather<Entrant, EntryState>(states, { ...options, statements: 1 });
    this.#renewals = new Gather<Renewal, Admission | undefined>(
      onServer((renewals) => renewFree(db, renewals)),
      // Most of its cost does not depend on how many it renews.
      { statements: 1, ...byParticipant },
    );
    this.#newcomers = new Gather<NewAdmission, Admission | undefined>(
      (admissions) => enterNew(db, admissions),
      byParticipant,
    );
    const entering = (mayLower: boolean) => (admissions: readonly NewAdmission[]) =>
      enterFree(db, admissions, mayLower);
    this.#joins = new Gather<NewAdmission, Admitting | undefined>(entering(false), byParticipant);
    this.#mints = new Gather<NewAdmission, Admitting | undefined>(entering(true), byParticipant);
  }

  /**
   * `undefined`: there is no credential with this id. Those last seen of tenants that paid share no statement with others: anyone can
   * sign up, or make up credentials.
   */
  async lookUp(shown: ShownCredential): Promise<JoinLookup | undefined> {
    const wasPaid = this.#paid.delete(shown.id);
    if (wasPaid) this.#paid.add(shown.id);
    const found = await (wasPaid ? this.#lookups : this.#lookupsOfOthers).ask(shown);
    const isPaid = found?.joins !== undefined && countsAsPaid(found.tenantStatus);
    if (isPaid && !wasPaid) this.#remember(shown.id);
    else if (wasPaid && found && !countsAsPaid(found.tenantStatus)) this.#paid.delete(shown.id);
    return found;
  }

  #remember(id: string): void {
    this.#paid.add(id);
    if (this.#paid.size > PAID_MAX) this.#paid.delete(this.#paid.values().next().value!);
  }

  /** Tenants that never paid share no statement with others: anyone can sign up, and ban ranges that each look-up compares. */
  findState(entrant: Entrant, hasPaid = true): Promise<EntryState> {
    return (hasPaid ? this.#states : this.#statesNeverPaid).ask(entrant);
  }

  /** `undefined`: the participant is locked, or has left or changed, and `renewAlone()` tells which. */
  renew(renewal: Renewal): Promise<Admission | undefined> {
    return this.#renewals.ask(renewal);
  }

  /**
   * `undefined`: the room or the participant is locked, or the room has ended: `enterAlone()` tells which. `isNew`: probably no
   * user of that name has been in the room, which is cheaper.
   */
  async enter(admission: NewAdmission, { isNew = false } = {}): Promise<Admitting | undefined> {
    const admitted = isNew ? await this.#newcomers.ask(admission) : undefined;
    return admitted ?? (admission.mayLower ? this.#mints : this.#joins).ask(admission);
  }
}
