/**
 * Assigns charged usage to sessions, behind the charges.
 *
 * A turn reads the next postings of a tenant, adds what their records sum up to to the sessions that they belong to, or to what
 * stays unassigned, and to the sums of rooms, participants, keys and customers, spends them from budgets, and moves the tenant's
 * cursor, all in one transaction. So the sums of all sessions, the unassigned usage and the records behind the cursor equal the
 * ledger at any time. Any number of processes take turns.
 */
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { TenantTurns } from '../../base/tenants/tenant-turns.ts';
import { findWaitingSince } from '../../events/turns.sql.ts';
import { findNextPostings, type NextPosting, sumByParticipant } from '../../money/usage/posted-usage.sql.ts';
import { spendFromBudgets } from '../budgets/spend-from-budgets.ts';
import { UsageGroups } from './group-usage.ts';
import { addToRooms, findIncarnations } from './room-usage.sql.ts';
import { findBehind, type Look, lockSessionCursor, moveSessionCursor } from './session-cursors.sql.ts';
import { sessionListener } from './session-listener.ts';
import { addToSums } from './session-sums.sql.ts';
import { addToSessions, findCandidates } from './sessions.sql.ts';

/** Records of one turn, so that a tenant with millions of them leaves turns to others. */
const RECORDS_AT_ONCE = 5_000;
const TENANTS_AT_ONCE = 200;
/** Concurrent transactions. */
const LANES = 2;
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

/** Take turns until none waits: each tenant one, then again those that still have postings. */
export async function assignUsage(
  { db, log }: AssignDeps,
  look: Look,
  stopping?: AbortSignal,
  turns = new TenantTurns(log, JOB),
): Promise<void> {
  for (;;) {
    const waiting = (await findBehind(db, look, TENANTS_AT_ONCE, turns.leftOut())).values();
    let moved = 0;
    const lane = async () => {
      for (const tenant of waiting) {
        if (stopping?.aborted) return;
        if (await turns.take(tenant, () => assignNext(db, tenant))) moved += 1;
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    // Another process has the remaining turns, or they wait for sessions to begin.
    if (moved === 0) return;
  }
}

/** Assign the next postings of the tenant. Returns whether there were any. */
export function assignNext(db: Pool, tenant: TenantId): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const after = await lockSessionCursor(tx, tenant);
    if (after === undefined) return false;
    const postings = await findReady(tx, tenant, after);
    if (postings.length > 0) await assign(tx, tenant, postings);
    await moveSessionCursor(tx, tenant, postings.at(-1)?.seq ?? after);
    return postings.length > 0;
  });
}

/**
 * The next postings, up to the first that came after an event that the listener has not handled: its session may not be there
 * yet. Who asks for events after reading the postings sees each admission that a record of them can follow.
 */
async function findReady(tx: Tx, tenant: TenantId, after: bigint): Promise<NextPosting[]> {
  const postings = await findNextPostings(tx, tenant, after, RECORDS_AT_ONCE);
  const since = await findWaitingSince(tx, sessionListener, tenant);
  const unready = since ? postings.findIndex(({ at }) => at >= since) : -1;
  return unready < 0 ? postings : postings.slice(0, unready);
}

async function assign(tx: Tx, tenant: TenantId, postings: readonly NextPosting[]): Promise<void> {
  const groups = new UsageGroups(postings, await sumByParticipant(tx, tenant, postings));
  // Times of postings do not go back.
  const before = postings.at(-1)!.at;
  groups.assign(await findCandidates(tx, tenant, groups.names, before));
  const incarnations = await findIncarnations(tx, tenant, groups.roomsOfRest(), before);
  await addToSessions(tx, tenant, groups.sessions());
  await addToRooms(tx, tenant, groups.rooms(incarnations));
  await addToSums(tx, tenant, groups.days());
  await spendFromBudgets(tx, tenant, groups.charges());
}
