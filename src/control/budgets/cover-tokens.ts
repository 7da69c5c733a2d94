/**
 * Give tokens that run holds of budgets that were made after them.
 *
 * A budget does it in the transaction that makes it. A token that is admitted in the same moment does not see the budget yet, so a
 * job does it again for new budgets.
 */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { RateCard } from '../../money/pricing/rate-card.ts';
import type { RateCards } from '../../money/pricing/rate-cards.ts';
import { ROLES } from '../../money/pricing/role.ts';
import { type Budget, coversUsage } from './budget.ts';
import { listBudgets, listTenantsWithNewBudgets, lockBudgets, settleBudgets } from './budgets.sql.ts';
import { amountOf, DEAR_CAPABILITY, GRACE_SECONDS, rateOf } from './hold.ts';
import {
  type HoldKey,
  insertHolds,
  listHolds,
  listUnheldTokens,
  lockHoldsAmong,
  type RoleRate,
  type StoredHold,
  type UnheldToken,
  updateHolds,
} from './holds.sql.ts';

/** How old a budget is when every admission that began before it has ended. */
const NEW_SECONDS = 120;
/** So that a tenant with many neither fills memory nor keeps the process from others. */
const HOLDS_AT_ONCE = 500;

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
  /** What is held more, by budget. */
  const added = new Map<string, bigint>();
  await holdUnheld(tx, await rates.current(tx), tenant, added);
  let page: readonly StoredHold[] = [];
  do {
    page = await listHolds(tx, tenant, page.at(-1), HOLDS_AT_ONCE);
    await coverHolds(tx, tenant, page, added);
  } while (page.length === HOLDS_AT_ONCE);
  const budgets = await lockBudgets(tx, tenant, [...added.keys()]);
  const held = budgets.map((budget) => ({ ...budget, held: budget.held + added.get(budget.uid)! }));
  await settleBudgets(tx, tenant, held);
}

/** A hold of an earlier token leaves its budgets, and is covered anew with the others. */
async function holdUnheld(
  tx: Tx,
  card: RateCard,
  tenant: TenantId,
  added: Map<string, bigint>,
): Promise<void> {
  const oldest = (await findNow(tx)).getTime() / 1000 - GRACE_SECONDS;
  const tokens = await listUnheldTokens(tx, tenant, ratesOf(card), oldest);
  for (let at = 0; at < tokens.length; at += HOLDS_AT_ONCE) {
    const part = new Map(tokens.slice(at, at + HOLDS_AT_ONCE).map((token) => [nameOf(token), token]));
    const before = await lockHoldsAmong(tx, tenant, [...part.values()]);
    for (const hold of before) for (const uid of hold.budgets) add(added, uid, -amountOf(hold));
    await updateHolds(
      tx,
      tenant,
      before.map((hold) => raised(hold, part.get(nameOf(hold))!)),
    );
    for (const hold of before) part.delete(nameOf(hold));
    await insertHolds(
      tx,
      tenant,
      [...part.values()].map((token) => ({ ...token, budgets: [] })),
    );
  }
}

function ratesOf(card: RateCard): RoleRate[] {
  return ROLES.flatMap((role) =>
    [true, false].map((isDear) => {
      return { role, isDear, rate: rateOf(card, role, isDear ? [DEAR_CAPABILITY] : []) };
    }),
  );
}

function nameOf({ room, username, device, keyId, customer }: HoldKey): string {
  return [room, username, device, keyId, customer].join('\0');
}

/** The hold, with the time and the rate of the token that it lacks. */
function raised(hold: StoredHold, { rate, seconds, until }: UnheldToken): StoredHold {
  const lacking = Math.max(0, Math.min(seconds, Math.ceil(until - hold.until)));
  return {
    ...hold,
    budgets: [],
    rate: rate > hold.rate ? rate : hold.rate,
    until: Math.max(until, hold.until),
    seconds: hold.seconds + lacking,
  };
}

function add(added: Map<string, bigint>, uid: string, amount: bigint): void {
  added.set(uid, (added.get(uid) ?? 0n) + amount);
}

/** Lock those that lack a budget, and note what each budget gets. They lose budgets that were deleted. */
async function coverHolds(
  tx: Tx,
  tenant: TenantId,
  page: readonly StoredHold[],
  added: Map<string, bigint>,
): Promise<void> {
  const known = await listBudgets(tx, tenant);
  const lacking = page.filter((hold) => known.some((budget) => lacks(hold, budget)));
  if (lacking.length === 0) return;
  const holds = await lockHoldsAmong(tx, tenant, lacking);
  // Read after the lock: there are all budgets that a locked hold is part of.
  const budgets = await listBudgets(tx, tenant);
  const covered = holds.map((hold) => {
    for (const { uid } of budgets.filter((each) => lacks(hold, each))) add(added, uid, amountOf(hold));
    const own = budgets.filter((each) => hold.budgets.includes(each.uid) || coversUsage(each, hold));
    return { ...hold, budgets: own.map(({ uid }) => uid) };
  });
  await updateHolds(tx, tenant, covered);
}

function lacks(hold: StoredHold, budget: Budget): boolean {
  return !hold.budgets.includes(budget.uid) && coversUsage(budget, hold);
}
