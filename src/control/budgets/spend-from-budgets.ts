/** Usage that was charged replaces the holds of its participants, and is spent from their budgets. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { atTime, type Budget, coversUsage, sharesToTell, type UsagePlace } from './budget.ts';
import { lockBudgets, settleBudgets } from './budgets.sql.ts';
import { payFromHolds, type UsedTime } from './hold.ts';
import { lockHoldsOf, type StoredHold, updateSeconds } from './holds.sql.ts';
import { tellShares } from './tell-shares.ts';

/** Charged usage of one participant. */
export interface Charge extends UsedTime {
  /** Name of the room. */
  readonly room: string;
  /** As the token names it; `null`: not known. */
  readonly participant: string | null;
  /** Those of the session, for usage whose hold is gone. */
  readonly keyId: string | null;
  readonly customer: string | null;
}

/** A part of a charge, which these budgets pay. */
interface Payment {
  readonly budgets: readonly string[];
  readonly at: Date;
  readonly micros: bigint;
  /** What leaves the hold: at least what it pays. 0 without a hold. */
  readonly released: bigint;
}

/**
 * Call it in the transaction that remembers that these charges were spent. A hold pays from the budgets that it is part of; what no
 * hold covers is spent all the same, if need be beyond the budget. Tells of each share of a budget that is reached.
 * `all`: the budgets of the tenant.
 */
export async function spendFromBudgets(
  tx: Tx,
  tenant: TenantId,
  charges: readonly Charge[],
  all: readonly Budget[],
): Promise<void> {
  if (charges.length === 0) return;
  const payments = mergePayments(await payCharges(tx, tenant, charges, all));
  const budgets = await lockBudgets(tx, tenant, [...new Set(payments.flatMap((each) => each.budgets))]);
  const payers = Map.groupBy(
    payments.flatMap((payment) => payment.budgets.map((uid) => ({ uid, payment }))),
    ({ uid }) => uid,
  );
  const spent = budgets.map((each) =>
    (payers.get(each.uid) ?? []).reduce((budget, { payment }) => spend(budget, payment), each),
  );
  const tellings = spent.map((budget) => ({ budget, shares: sharesToTell(budget) }));
  await settleBudgets(
    tx,
    tenant,
    tellings.map(({ budget, shares }) => ({ ...budget, told: shares.at(-1) ?? budget.told })),
  );
  await tellShares(tx, tenant, tellings);
}

/** The charges of a participant take turns at its holds. */
async function payCharges(
  tx: Tx,
  tenant: TenantId,
  charges: readonly Charge[],
  all: readonly Budget[],
): Promise<Payment[]> {
  const uncoveredOf = remembering((place) => uidsOf(all.filter((each) => coversUsage(each, place))));
  const locked = await lockHoldsOf(tx, tenant, namesOf(charges));
  const holds = Map.groupBy(locked, keyOf);
  // The newest of those at one rate pays first, so that what is left of an earlier one is given back at its end.
  for (const own of holds.values()) own.sort((a, b) => Number(a.rate - b.rate) || b.until - a.until);
  const payments = charges.flatMap((charge) => {
    const key = keyOf({ room: charge.room, username: charge.participant ?? '' });
    const own = holds.get(key) ?? [];
    const { after, paid, rest } = payFromHolds(own, charge);
    holds.set(key, after);
    const { at } = charge;
    const uncovered = newestOf(own)?.budgets ?? uncoveredOf(charge);
    return [
      ...paid.map(({ micros, released }, place) => ({ budgets: own[place]!.budgets, at, micros, released })),
      ...(rest > 0n ? [{ budgets: uncovered, at, micros: rest, released: 0n }] : []),
    ];
  });
  const unchanged = new Set(locked);
  const changed = [...holds.values()].flat().filter((hold) => !unchanged.has(hold));
  await updateSeconds(tx, tenant, changed);
  return payments;
}

/** Thousands of charges are often of one place. */
function remembering(find: (place: UsagePlace) => readonly string[]): typeof find {
  const known = new Map<string, readonly string[]>();
  return (place) => {
    const key = JSON.stringify([place.room, place.keyId, place.customer]);
    const found = known.get(key) ?? find(place);
    known.set(key, found);
    return found;
  };
}

/** One payment of each time and set of budgets: each budget adds up all of its own, in one go that other requests wait for. */
function mergePayments(payments: readonly Payment[]): Payment[] {
  const same = Map.groupBy(payments, ({ budgets, at }) => `${at.getTime()} ${budgets.join()}`);
  return [...same.values()].map((each) => ({
    ...each[0]!,
    micros: each.reduce((sum, { micros }) => sum + micros, 0n),
    released: each.reduce((sum, { released }) => sum + released, 0n),
  }));
}

function newestOf(holds: readonly StoredHold[]): StoredHold | undefined {
  return holds.toSorted((a, b) => b.until - a.until)[0];
}

function keyOf({ room, username }: Pick<StoredHold, 'room' | 'username'>): string {
  return `${room}\0${username}`;
}

function namesOf(charges: readonly Charge[]) {
  return charges.flatMap(({ room, participant }) => (participant === null ? [] : [{ room, participant }]));
}

function uidsOf(budgets: readonly Budget[]): string[] {
  return budgets.map(({ uid }) => uid);
}

/** What was charged in an earlier period, or before the budget was made, is not part of what is spent. */
function spend(before: Budget, { at, micros, released }: Payment): Budget {
  const budget = atTime(before, at);
  const counts = at >= budget.periodStart && at >= budget.createdAt;
  return { ...budget, held: budget.held - released, spent: budget.spent + (counts ? micros : 0n) };
}
