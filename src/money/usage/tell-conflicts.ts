/**
 * Tell a tenant that relays report known ids with other values.
 *
 * The charge that finds the first ones tells of them. Further ones are counted, and told together when an hour has
 * passed: by the next charge with conflicts, or by the background job.
 */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import type { UsageRecord } from '../records/usage-record.ts';
import { CONFLICT_IDS_MAX, conflictingDuplicates } from './conflict-events.ts';
import { addConflicts, takeConflicts, takeWaitingConflicts } from './conflict-notices.sql.ts';

/** A tenant is told at most once in so long, otherwise a broken relay would fill the log. */
const HOURS_BETWEEN_CONFLICTS = 1;

const AT_ONCE = 100;

/** Returns whether an event was appended. The account must be locked. */
export async function tellConflicts(
  tx: Tx,
  tenant: TenantId,
  conflicts: readonly UsageRecord[],
): Promise<boolean> {
  const ids = [...new Set(conflicts.map(({ id }) => id))].slice(0, CONFLICT_IDS_MAX);
  await addConflicts(tx, tenant, { count: conflicts.length, ids });
  const told = await takeConflicts(tx, tenant, HOURS_BETWEEN_CONFLICTS);
  if (told) await appendEvents(tx, tenant, [conflictingDuplicates(told)]);
  return told !== undefined;
}

/** Any number of processes may do this at once. */
export async function tellWaitingConflicts(deps: EventDeps): Promise<void> {
  while ((await tellSome(deps)) === AT_ONCE);
}

async function tellSome({ db, events }: EventDeps): Promise<number> {
  const told = await inTransaction(db, async (tx) => {
    const taken = await takeWaitingConflicts(tx, HOURS_BETWEEN_CONFLICTS, AT_ONCE);
    for (const each of taken) await appendEvents(tx, each.tenant, [conflictingDuplicates(each)]);
    return taken;
  });
  for (const { tenant } of told) events.wake(tenant);
  return told.length;
}
