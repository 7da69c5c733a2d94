/**
 * Give tokens that run holds of budgets that were made after them.
 *
 * A budget does it in the transaction that makes it. A token that is admitted in the same moment does not see the budget yet, so a
 * job does it again for new budgets.
 */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { RateCards } from '../../money/pricing/rate-cards.ts';
import { coversUsage } from './budget.ts';
import {
  listBudgets,
  listTenantsWithNewBudgets,
  lockBudgets,
  readTime,
  settleBudgets,
} from './budgets.sql.ts';
import { amountOf, GRACE_SECONDS, rateOf } from './hold.ts';
import { addBudgetToHolds, insertHolds, listRunningTokens, lockHolds, type StoredHold } from './holds.sql.ts';

/** How old a budget is when every admission that began before it has ended. */
const NEW_SECONDS = 120;

export interface CoverDeps {
  readonly rates: RateCards;
}

/** One tenant that fails does not keep others from it. */
export async function coverTokensOfNewBudgets(deps: Pick<BaseDeps, 'db' | 'log'> & CoverDeps): Promise<void> {
  for (const tenant of await listTenantsWithNewBudgets(deps.db, NEW_SECONDS)) {
    try {
      await inTransaction(deps.db, (tx) => coverTokens(tx, deps, tenant));
    } catch (err) {
      deps.log.error({ err, tenant: renderTenantId(tenant) }, 'covering tokens by new budgets failed');
    }
  }
}

/** Every token that runs gets a hold, and every hold is part of all budgets that cover it. */
export async function coverTokens(tx: Tx, { rates }: CoverDeps, tenant: TenantId): Promise<void> {
  const before = await lockHolds(tx, tenant);
  await insertMissing(tx, rates, tenant);
  const holds = await lockHolds(tx, tenant);
  const kept = new Set(holds.map(tokensOf));
  const replaced = before.filter((hold) => !kept.has(tokensOf(hold)));
  const budgets = await lockBudgets(
    tx,
    tenant,
    (await listBudgets(tx, tenant)).map(({ uid }) => uid),
  );
  const covered = budgets.map((budget) => {
    const added = holds.filter((hold) => coversUsage(budget, hold) && !hold.budgets.includes(budget.uid));
    const gone = replaced.filter((hold) => hold.budgets.includes(budget.uid));
    return { budget, added, gone };
  });
  const changed = covered.filter(({ added, gone }) => added.length > 0 || gone.length > 0);
  for (const { budget, added } of changed) await addBudgetToHolds(tx, tenant, budget.uid, added);
  await settleBudgets(
    tx,
    tenant,
    changed.map(({ budget, added, gone }) => {
      return { ...budget, held: budget.held + sumOf(added) - sumOf(gone) };
    }),
  );
}

/** Names a hold and what its tokens may cost. */
function tokensOf({ room, username, device, until, rate }: StoredHold): string {
  return [room, username, device, until, rate].join('\0');
}

function sumOf(holds: readonly StoredHold[]): bigint {
  return holds.reduce((sum, hold) => sum + amountOf(hold), 0n);
}

/** What a token has used so far may not have been reported yet. */
async function insertMissing(tx: Tx, rates: RateCards, tenant: TenantId): Promise<void> {
  const card = await rates.current(tx);
  const tokens = (await listRunningTokens(tx, tenant)).map((token) => ({
    ...token,
    rate: rateOf(card, token.role, token.capabilities),
  }));
  const oldest = (await readTime(tx)).getTime() / 1000 - GRACE_SECONDS;
  await insertHolds(
    tx,
    tenant,
    tokens
      .filter(({ heldRate, rate }) => heldRate === null || heldRate < rate)
      .map(({ room, username, device, keyId, customer, rate, admittedAt, until }) => ({
        ...{ room, username, device, keyId, customer, rate, until },
        seconds: Math.ceil(until - Math.max(admittedAt, oldest)),
      })),
  );
}
