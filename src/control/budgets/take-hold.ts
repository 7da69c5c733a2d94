/** Take a hold of what a token can cost at most, in the transaction that admits its participant. */
import type { Db, Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { RateCards } from '../../money/pricing/rate-cards.ts';
import type { Role } from '../../money/pricing/role.ts';
import { atTime, type Budget, coversUsage, freeOf, TOKEN_BUDGETS_MAX, type UsagePlace } from './budget.ts';
import { holdFromBudgets, listBudgetsFor, lockBudgets } from './budgets.sql.ts';
import { amountOf, extendHold, HOLDS_OF_USER_MAX, mayLapse, rateOf } from './hold.ts';
import {
  countHoldsOfUser,
  type HeldDevice,
  insertHolds,
  lockHoldsOfDevice,
  type StoredHold,
  updateHolds,
} from './holds.sql.ts';

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

export interface HoldDeps {
  readonly rates: RateCards;
  /** All charges of the tenant before this time were spent from budgets. */
  readonly findSpentUntil: (db: Db, tenant: TenantId) => Promise<Date>;
}

/**
 * The participant must be locked: its admissions take turns. `issuedAt`: the start of the token, in seconds since 1970.
 *
 * Returns the uids of hard budgets that cover the token, for the token. Fails with `budget_reached`, which names the hard budget
 * with the least that is free, and with `quota_exceeded`; the transaction must then roll back.
 */
export async function takeHold(
  tx: Tx,
  deps: HoldDeps,
  holder: Holder,
  issuedAt: number,
): Promise<readonly string[]> {
  const { rates, findSpentUntil } = deps;
  const { tenant, room, username, thumbprint: device, keyId, role, capabilities } = holder;
  const own = await lockHoldsOfDevice(tx, tenant, { room, username, device });
  const customer = holder.customer ?? findCustomer(own, issuedAt);
  const before = own.find((each) => each.keyId === keyId && each.customer === customer);
  if (!before && own.length > 0) await refuseMany(tx, tenant, own[0]!);
  const extended = extendHold(before, {
    rate: rateOf(await rates.current(tx), role, capabilities),
    now: issuedAt,
    until: issuedAt + holder.lifetimeSeconds,
    spentUntil:
      before && mayLapse(before, issuedAt) ? (await findSpentUntil(tx, tenant)).getTime() / 1000 : issuedAt,
  });
  const covering = await lockBudgets(tx, tenant, await listCovering(tx, tenant, { keyId, room, customer }));
  const after: StoredHold = {
    ...extended,
    ...{ room, username, device, keyId, customer },
    budgets: covering.map(({ uid }) => uid),
  };
  const added = (uid: string) => amountOf(after) - (before?.budgets.includes(uid) ? amountOf(before) : 0n);
  const current = covering.map((each) => atTime(each, new Date(issuedAt * 1000)));
  const changed = current.map((each) => ({ ...each, held: each.held + added(each.uid) }));
  refuseReached(current.filter((each, at) => each.hard && exceeds(each, changed[at]!.held)));
  if (before) await updateHolds(tx, tenant, [after]);
  // A budget that was made meanwhile has inserted one for an earlier token of the device: extend that.
  else if ((await insertHolds(tx, tenant, [after])) === 0) return takeHold(tx, deps, holder, issuedAt);
  await holdFromBudgets(tx, tenant, changed);
  const refusing = covering.filter(({ hard }) => hard);
  return refusing.map(({ uid }) => uid).slice(0, TOKEN_BUDGETS_MAX);
}

/**
 * A token without a customer keeps the one of an earlier token that still runs. Otherwise a device could join by itself, and leave the
 * budget of its customer.
 */
function findCustomer(own: readonly StoredHold[], issuedAt: number): string | null {
  const labelled = own.filter(({ customer, until }) => customer !== null && until > issuedAt);
  return labelled.sort((a, b) => b.until - a.until)[0]?.customer ?? null;
}

/** A device has a hold for each key and customer, and devices have a limit of their own. */
async function refuseMany(tx: Tx, tenant: TenantId, user: HeldDevice): Promise<void> {
  if ((await countHoldsOfUser(tx, tenant, user, HOLDS_OF_USER_MAX)) < HOLDS_OF_USER_MAX) return;
  const message = `limit reached: at most ${HOLDS_OF_USER_MAX} keys and customers of the devices of one user in a room`;
  throw new Failure('quota_exceeded', { message });
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

function refuseReached(reached: readonly Budget[]): void {
  if (reached.length === 0) return;
  const least = reached.reduce((a, b) => (freeOf(b) < freeOf(a) ? b : a));
  throw new Failure('budget_reached', {
    message: `budget reached: ${least.id} has too little left for this session`,
    metadata: { budget: least.id, free_micros: `${freeOf(least)}` },
  });
}
