/**
 * Assigns charged usage to sessions, behind the charges.
 *
 * A turn reads the next postings of a tenant, adds what their records sum up to to the sessions that they belong to, or to what
 * stays unassigned, and to the sums of rooms, participants, keys and customers, spends them from budgets, and moves the tenant's
 * cursor, all in one transaction. So the sums of all sessions, the unassigned usage and the records behind the cursor equal the
 * ledger at any time. Any number of processes take turns.
 */
import { runTogether } from '../../base/db/pipeline.ts';
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { TenantTurns } from '../../base/tenants/tenant-turns.ts';
import { waitingSince } from '../../events/turns.sql.ts';
import { sumByParticipant } from '../../money/records/sum-by-participant.ts';
import { SEQSCAN_OFF } from '../../money/usage/charge-settings.sql.ts';
import { type NextPosting, nextPostings, POSTINGS_AT_ONCE } from '../../money/usage/posted-usage.sql.ts';
import { selectBudgets } from '../budgets/budgets.sql.ts';
import { spendFromBudgets } from '../budgets/spend-from-budgets.ts';
import { UsageGroups } from './group-usage.ts';
import { addToRooms, findIncarnations } from './room-usage.sql.ts';
import {
  ASSIGNED,
  findBehind,
  hasUsagePlaces,
  insertSessionCursor,
  type Look,
  lockSessionCursor,
  moveSessionCursor,
} from './session-cursors.sql.ts';
import { sessionListener } from './session-listener.ts';
import { addToSums } from './session-sums.sql.ts';
import { addToSessions, findCandidates } from './sessions.sql.ts';

/** Records of one turn, so that a tenant with millions of them leaves turns to others. */
const RECORDS_AT_ONCE = 5_000;
const TENANTS_AT_ONCE = 200;
/** Concurrent transactions. */
const LANES = 2;
/** How long one list of tenants is followed: who comes meanwhile may be before most of them. */
const LOOK_MS = 1_000;
/** Rounds between looks at all accounts. */
const ROUNDS = 15;
/** In the log. */
const JOB = 'assigning usage to sessions';

type AssignDeps = Pick<BaseDeps, 'db' | 'log'>;

/** A job that is run every second. It stops when `stopping` is aborted. */
export function assigningUsage(deps: AssignDeps, stopping: AbortSignal): () => Promise<void> {
  const turns = new TenantTurns(deps.log, JOB);
  let round = 0;
  return async () => {
    const look = round % ROUNDS === 0 ? 'all accounts' : 'new charges';
    round += 1;
    await assignUsage(deps, look, stopping, turns);
  };
}

/** Each tenant takes a turn, in the order of `findBehind()`, and then again those that have more than one. */
export async function assignUsage(
  { db, log }: AssignDeps,
  look: Look,
  stopping?: AbortSignal,
  turns = new TenantTurns(log, JOB),
): Promise<void> {
  for (;;) {
    const tenants = await findBehind(db, look, TENANTS_AT_ONCE, turns.leftOut());
    const until = performance.now() + LOOK_MS;
    const waiting = tenants.values();
    let moved = 0;
    // What is charged meanwhile waits for the next round, so that its turns are few and large.
    let isRest = tenants.length === TENANTS_AT_ONCE;
    const lane = async () => {
      for (const tenant of waiting) {
        if (stopping?.aborted) return;
        if (performance.now() > until) {
          isRest = true;
          return;
        }
        const turn = await turns.take(tenant, () => assignNext(db, tenant));
        if (turn) moved += 1;
        if (turn === 'more') isRest = true;
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    // Another process has the remaining turns, or they wait for sessions to begin.
    if (!isRest || moved === 0) return;
  }
}

/** Assign the next postings of the tenant. `more`: others are left. `undefined`: there were none that could be assigned. */
export async function assignNext(db: Pool, tenant: TenantId): Promise<'more' | 'all' | undefined> {
  const turn = await inTransaction(db, (tx) => takeTurn(tx, tenant), {
    last: (turn) => (turn ? [moveSessionCursor(tenant, turn.reached)] : []),
  });
  if (!turn?.reached) return undefined;
  return turn.isFull ? 'more' : 'all';
}

interface Turn {
  /** The last posting that was assigned; `null`: there was none. */
  readonly reached: bigint | null;
  readonly isFull: boolean;
}

/** `undefined`: another process has the turn. */
async function takeTurn(tx: Tx, tenant: TenantId): Promise<Turn | undefined> {
  let next = await lockAndFind(tx, tenant);
  if (!next) {
    await insertSessionCursor(tx, tenant);
    next = await lockAndFind(tx, tenant);
  }
  if (!next) return undefined;
  const { postings, isFull, hasPlaces } = next;
  if (postings.length > 0) await assign(tx, tenant, postings, hasPlaces);
  return { reached: postings.at(-1)?.seq ?? null, isFull };
}

/**
 * The next postings, up to the first that came after an event that the listener has not handled: its session may not be there
 * yet. Who asks for events after reading the postings sees each admission that a record of them can follow.
 */
async function lockAndFind(tx: Tx, tenant: TenantId) {
  const [, [locked], found, [waiting], [places]] = await runTogether(tx, [
    SEQSCAN_OFF,
    lockSessionCursor(tenant),
    nextPostings(tenant, ASSIGNED, RECORDS_AT_ONCE),
    waitingSince(sessionListener, tenant),
    hasUsagePlaces(tenant),
  ]);
  if (!locked) return undefined;
  const { hasPlaces } = places!;
  const since = waiting!.since;
  const unready = since ? found.findIndex(({ at }) => at >= since) : -1;
  if (unready >= 0) return { postings: found.slice(0, unready), isFull: false, hasPlaces };
  const records = found.reduce((sum, posting) => sum + (posting.records ?? 1), 0);
  const isFull = records >= RECORDS_AT_ONCE || found.length === POSTINGS_AT_ONCE;
  return { postings: found, isFull, hasPlaces };
}

/** `hasPlaces`: see `hasUsagePlaces()`. Without, usage counts for names of rooms alone. */
async function assign(
  tx: Tx,
  tenant: TenantId,
  postings: readonly NextPosting[],
  hasPlaces: boolean,
): Promise<void> {
  const groups = new UsageGroups(postings, await sumByParticipant(tx, tenant, postings, !hasPlaces));
  // Times of postings do not go back.
  const before = postings.at(-1)!.at;
  groups.assign(await findCandidates(tx, tenant, hasPlaces ? groups.names : [], before));
  const rooms = hasPlaces ? groups.roomsOfRest() : [];
  const incarnations = await findIncarnations(tx, tenant, rooms, before);
  const [budgets] = await runTogether(tx, [
    selectBudgets(tenant),
    ...addToSessions(tenant, groups.sessions()),
    ...addToRooms(tenant, groups.rooms(incarnations)),
    ...addToSums(tenant, groups.days()),
  ]);
  if (budgets.length > 0) await spendFromBudgets(tx, tenant, groups.charges(), budgets);
}
