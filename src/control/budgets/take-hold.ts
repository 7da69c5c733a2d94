/** Take a hold of what a token can cost at most, in the transaction that admits its participant. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { RateCards } from '../../money/pricing/rate-cards.ts';
import type { Role } from '../../money/pricing/role.ts';
import { atTime, type Budget, coversUsage, freeOf, type UsagePlace } from './budget.ts';
import { holdFromBudgets, listBudgetsFor, lockBudgets } from './budgets.sql.ts';
import { amountOf, extendHold, rateOf } from './hold.ts';
import { insertHolds, lockHold, type StoredHold, updateHolds } from './holds.sql.ts';

/** Who is admitted, with what. */
export interface Holder {
  readonly tenant: TenantId;
  /** Name of the room. */
  readonly room: string;
  readonly username: string;
  readonly thumbprint: string;
  readonly role: Role;
  readonly capabilities: readonly string[];
  readonly keyId: string;
  readonly customer: string | null;
  readonly lifetimeSeconds: number;
}

/** A token has at most 4 KiB. */
const TOKEN_BUDGETS_MAX = 20;

export interface HoldDeps {
  readonly rates: RateCards;
  /** All charges of the tenant before this time were spent from budgets. */
  readonly findSpentUntil: (db: Db, tenant: TenantId) => Promise<Date>;
}

/**
 * The participant must be locked: its admissions take turns. `issuedAt`: the start of the token, in seconds since 1970.
 *
 * Returns the uids of hard budgets that cover the token, for the token. Fails with `budget_reached`, which names the hard budget
 * with the least that is free; the transaction must then roll back.
 */
export async function takeHold(
  tx: Tx,
  deps: HoldDeps,
  holder: Holder,
  issuedAt: number,
): Promise<readonly string[]> {
  const { rates, findSpentUntil } = deps;
  const { tenant, room, username, thumbprint: device, keyId, role, capabilities } = holder;
  const before = await lockHold(tx, tenant, { room, username, device });
  // Otherwise a device could join by itself, and leave the budget of its customer while the back end's token goes on.
  const customer = holder.customer ?? (before && before.until > issuedAt ? before.customer : null);
  const extended = extendHold(before, {
    rate: rateOf(await rates.current(tx), role, capabilities),
    now: issuedAt,
    until: issuedAt + holder.lifetimeSeconds,
    spentUntil: before ? (await findSpentUntil(tx, tenant)).getTime() / 1000 : issuedAt,
  });
  const covering = await listCovering(tx, tenant, { keyId, room, customer });
  const locked = await lockBudgets(tx, tenant, [...new Set([...covering, ...(before?.budgets ?? [])])]);
  const isCovering = ({ uid }: Budget) => covering.includes(uid);
  const after: StoredHold = {
    ...extended,
    ...{ room, username, device, keyId, customer },
    budgets: locked.filter(isCovering).map(({ uid }) => uid),
  };
  const current = locked.map((each) => atTime(each, new Date(issuedAt * 1000)));
  const changed = current.map((each) => ({ ...each, held: each.held + addedTo(each, before, after) }));
  refuseReached(current.filter((each, at) => each.hard && exceeds(each, changed[at]!.held)));
  if (before) await updateHolds(tx, tenant, [after]);
  // A budget that was made meanwhile has inserted one for an earlier token of the device: extend that.
  else if ((await insertHolds(tx, tenant, [after])) === 0) return takeHold(tx, deps, holder, issuedAt);
  await holdFromBudgets(tx, tenant, changed);
  const refusing = locked.filter((each) => each.hard && isCovering(each));
  return refusing.map(({ uid }) => uid).slice(0, TOKEN_BUDGETS_MAX);
}

/** The uids of the budgets that cover a token. */
async function listCovering(tx: Tx, tenant: TenantId, place: UsagePlace): Promise<string[]> {
  const budgets = await listBudgetsFor(tx, tenant, place);
  return budgets.filter((each) => coversUsage(each, place)).map(({ uid }) => uid);
}

/** Whether what is held of the budget grows, and beyond what it has. */
function exceeds({ held: before, max, spent }: Budget, held: bigint): boolean {
  return held > before && held > max - spent;
}

/** What the hold adds to `held` of a budget, or takes from it. */
function addedTo({ uid }: Budget, before: StoredHold | undefined, after: StoredHold): bigint {
  const had = before?.budgets.includes(uid) ? amountOf(before) : 0n;
  return (after.budgets.includes(uid) ? amountOf(after) : 0n) - had;
}

function refuseReached(reached: readonly Budget[]): void {
  if (reached.length === 0) return;
  const { id } = reached.reduce((least, each) => (freeOf(each) < freeOf(least) ? each : least));
  throw new Failure('budget_reached', {
    message: `budget reached: ${id} has too little left for this session`,
    metadata: { budget: id },
  });
}
