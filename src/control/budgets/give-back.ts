/** Take holds out of the budgets that they are part of. */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Pool, Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { TenantTurns } from '../../base/tenants/tenant-turns.ts';
import { lockBudgets, settleBudgets } from './budgets.sql.ts';
import { amountOf, GRACE_SECONDS } from './hold.ts';
import {
  deleteHolds,
  listTenantsWithHoldsOver,
  lockHoldsOfUsers,
  lockHoldsOver,
  type StoredHold,
} from './holds.sql.ts';
import type { HoldDeps } from './take-hold.ts';

const TENANTS_AT_ONCE = 1_000;
const HOLDS_AT_ONCE = 500;

/** In the log. */
const JOB = 'giving back holds of budgets';

type GiveBackDeps = Pick<BaseDeps, 'db' | 'log'>;
type FindSpentUntil = HoldDeps['findSpentUntil'];

/** A job that is run every few seconds. */
export function givingBackExpired(deps: GiveBackDeps, findSpentUntil: FindSpentUntil): () => Promise<void> {
  const turns = new TenantTurns(deps.log, JOB);
  return () => giveBackExpired(deps, findSpentUntil, turns);
}

/**
 * Give back what expired without usage, when relays had time to report and what they reported was spent. Each tenant gets a turn,
 * then again all that have some by then. One tenant that fails does not keep others from it.
 */
export async function giveBackExpired(
  { db, log }: GiveBackDeps,
  findSpentUntil: FindSpentUntil,
  turns = new TenantTurns(log, JOB),
): Promise<void> {
  for (let isMore = true; isMore; ) {
    isMore = false;
    const over = beforeGrace(await findNow(db));
    for (const tenant of await listTenantsWithHoldsOver(db, over, TENANTS_AT_ONCE, turns.leftOut())) {
      if (await turns.take(tenant, () => giveBackNext(db, findSpentUntil, tenant))) isMore = true;
    }
  }
}

/** Returns whether there may be more. */
function giveBackNext(db: Pool, findSpentUntil: FindSpentUntil, tenant: TenantId): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    const over = beforeGrace(await findSpentUntil(tx, tenant));
    const holds = await lockHoldsOver(tx, tenant, over, HOLDS_AT_ONCE);
    await giveBack(tx, tenant, holds);
    return holds.length === HOLDS_AT_ONCE;
  });
}

function beforeGrace(time: Date): Date {
  return new Date(time.getTime() - GRACE_SECONDS * 1000);
}

/** Give back the holds of users who are erased, and have left. */
export async function forgetHoldsOf(tx: Tx, tenant: TenantId, usernames: readonly string[]): Promise<void> {
  await giveBack(tx, tenant, await lockHoldsOfUsers(tx, tenant, usernames));
}

/** The holds must be locked. */
async function giveBack(tx: Tx, tenant: TenantId, holds: readonly StoredHold[]): Promise<void> {
  if (holds.length === 0) return;
  const budgets = await lockBudgets(tx, tenant, [...new Set(holds.flatMap((each) => each.budgets))]);
  const released = budgets.map((budget) => {
    const own = holds.filter((hold) => hold.budgets.includes(budget.uid));
    return { ...budget, held: own.reduce((held, hold) => held - amountOf(hold), budget.held) };
  });
  await deleteHolds(tx, tenant, holds);
  await settleBudgets(tx, tenant, released);
}
