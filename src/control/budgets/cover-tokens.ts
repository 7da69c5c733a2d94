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
import type { TenantId } from '../../base/tenants/tenant.ts';
import { TenantTurns } from '../../base/tenants/tenant-turns.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import type { RateCard } from '../../money/pricing/rate-card.ts';
import type { RateCards } from '../../money/pricing/rate-cards.ts';
import { ROLES } from '../../money/pricing/role.ts';
import type { Budget } from './budget.ts';
import { listBudgets, listTenantsWithNewBudgets, lockBudgets, settleBudgets } from './budgets.sql.ts';
import { amountOf, DEAR_CAPABILITY, GRACE_SECONDS, rateOf } from './hold.ts';
import {
  coverHolds,
  type HoldKey,
  insertUnheld,
  lockHoldsAmong,
  type RoleRate,
  type StoredHold,
  type UnheldToken,
  updateHolds,
} from './holds.sql.ts';

/** How old a budget is when every admission that began before it has ended. */
const NEW_SECONDS = 120;
/**
 * Tokens that get a hold in one turn of a tenant, or holds that it covers with each budget, so that one with many tokens leaves
 * turns to others.
 */
const HOLDS_OF_TURN = 2_000;
/** No limit. */
const ALL = 2 ** 31 - 1;

/** In the log. */
const JOB = 'covering tokens by new budgets';

export interface CoverDeps {
  readonly rates: RateCards;
}

type JobDeps = Pick<BaseDeps, 'db' | 'log'> & CoverDeps;

/** A job that is run every few seconds. */
export function coveringTokens(deps: JobDeps): () => Promise<void> {
  const turns = new TenantTurns(deps.log, JOB);
  return () => coverTokensOfNewBudgets(deps, turns);
}

/** Each tenant gets a turn, then again those that have more. One that fails does not keep others from it. */
export async function coverTokensOfNewBudgets(
  deps: JobDeps,
  turns = new TenantTurns(deps.log, JOB),
): Promise<void> {
  const leftOut = new Set(turns.leftOut());
  let waiting = await listTenantsWithNewBudgets(deps.db, NEW_SECONDS);
  waiting = waiting.filter((tenant) => !leftOut.has(tenant));
  while (waiting.length > 0) {
    const again: TenantId[] = [];
    for (const tenant of waiting) {
      const turn = () => inTransaction(deps.db, (tx) => coverNext(tx, deps, tenant));
      if ((await turns.take(tenant, turn)) === 'more') again.push(tenant);
    }
    waiting = again;
  }
}

async function coverNext(tx: Tx, { rates }: CoverDeps, tenant: TenantId): Promise<'more' | 'all'> {
  await lockTenant(tx, tenant);
  const added = new Map<string, bigint>();
  const unheld = await holdUnheld(tx, await rates.current(tx), tenant, added, HOLDS_OF_TURN);
  // Holds that have left their budgets must be part of them again when this transaction ends.
  const limit = unheld > 0 ? ALL : HOLDS_OF_TURN;
  const lacking = await coverSome(tx, tenant, await listBudgets(tx, tenant), added, limit);
  return unheld >= HOLDS_OF_TURN || lacking === 'more' ? 'more' : 'all';
}

/**
 * In the transaction that makes a budget, which has locked the tenant: every token that runs gets a hold, and every hold that the
 * budget covers is part of it. Holds that are new are part of all budgets that cover them.
 */
export async function coverTokens(
  tx: Tx,
  { rates }: CoverDeps,
  tenant: TenantId,
  made: string,
): Promise<void> {
  const added = new Map<string, bigint>();
  const unheld = await holdUnheld(tx, await rates.current(tx), tenant, added, ALL);
  const budgets = await listBudgets(tx, tenant);
  const due = unheld > 0 ? budgets : budgets.filter(({ uid }) => uid === made);
  await coverSome(tx, tenant, budgets, added, ALL, due);
}

/**
 * Up to `limit` holds that lack one of `due` become part of it. `added`: what else is held more, by budget. `budgets`: all of the
 * tenant.
 */
async function coverSome(
  tx: Tx,
  tenant: TenantId,
  budgets: readonly Budget[],
  added: Map<string, bigint>,
  limit: number,
  due = budgets,
): Promise<'more' | 'all'> {
  const existing = budgets.map(({ uid }) => uid);
  let most = 0;
  for (const budget of due) {
    const { holds, held } = await coverHolds(tx, tenant, budget, existing, limit);
    add(added, budget.uid, held);
    most = Math.max(most, holds);
  }
  const locked = await lockBudgets(tx, tenant, [...added.keys()]);
  await settleBudgets(
    tx,
    tenant,
    locked.map((budget) => ({ ...budget, held: budget.held + added.get(budget.uid)! })),
  );
  return most === limit ? 'more' : 'all';
}

/**
 * Up to `limit` tokens get a hold, or more of the one that they have: that leaves its budgets, and is covered anew with the others. Returns
 * how many they were.
 */
async function holdUnheld(
  tx: Tx,
  card: RateCard,
  tenant: TenantId,
  added: Map<string, bigint>,
  limit: number,
): Promise<number> {
  const oldest = (await findNow(tx)).getTime() / 1000 - GRACE_SECONDS;
  const { inserted, lacking } = await insertUnheld(tx, tenant, ratesOf(card), oldest, limit);
  const byName = new Map(lacking.map((token) => [nameOf(token), token]));
  const before = await lockHoldsAmong(tx, tenant, lacking);
  for (const hold of before) for (const uid of hold.budgets) add(added, uid, -amountOf(hold));
  await updateHolds(
    tx,
    tenant,
    before.map((hold) => raised(hold, byName.get(nameOf(hold))!)),
  );
  return inserted + before.length;
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
