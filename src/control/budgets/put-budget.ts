/** Make a budget, or change its amount, its kind and its shares. */
import { findCredentialsById } from '../../access/devices/device-credentials.sql.ts';
import { findKeysById } from '../../access/keys/keys.sql.ts';
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { changedFields } from '../../base/audit/audit-entry.ts';
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure, invalidField } from '../../base/failure.ts';
import { newId } from '../../base/lib/ids.ts';
import { type LimitedCaller, limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { takePlace } from '../../base/tenants/places.sql.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockTenant } from '../../base/tenants/tenants.sql.ts';
import { atTime, BUDGETS_LIMIT, type Budget, sharesToTell, type WantedBudget } from './budget.ts';
import {
  countBudgets,
  findBudget,
  insertBudget,
  lockBudgets,
  markBudgets,
  updateWanted,
} from './budgets.sql.ts';
import { type CoverDeps, coverTokens } from './cover-tokens.ts';
import { startOfPeriod } from './period.ts';
import { tellShares } from './tell-shares.ts';

/**
 * A new budget counts what is charged from now on, and holds what tokens that run may still cost.
 *
 * Fails with `immutable_field` if the budget exists with another scope or period, with `quota_exceeded`, and with
 * `invalid_request` for a key that can admit none.
 */
export async function putBudget(
  tx: Tx,
  deps: CoverDeps,
  caller: LimitedCaller & { readonly actor: Actor },
  wanted: WantedBudget,
): Promise<Budget> {
  const { tenant } = caller;
  await lockTenant(tx, tenant);
  const found = await findBudget(tx, tenant, wanted.id);
  if (!found) return makeBudget(tx, deps, caller, wanted);
  refuseOther(found, wanted);
  const [locked] = await lockBudgets(tx, tenant, [found.uid]);
  const before = atTime(locked!, await findNow(tx));
  const { max, hard, shares } = wanted;
  const changed = {
    ...before,
    max,
    hard,
    shares,
    told: Math.min(before.told, highestTold({ ...before, max, shares })),
  };
  const telling = sharesToTell(changed);
  const after = { ...changed, told: telling.at(-1) ?? changed.told };
  await updateWanted(tx, tenant, after);
  await tellShares(tx, tenant, [{ budget: after, shares: telling }]);
  const fields = changedFields(auditedOf(before), auditedOf(after));
  if (fields) {
    await appendAudit(tx, tenant, caller.actor, { action: 'budget_changed', subject: after.id, ...fields });
  }
  return after;
}

async function makeBudget(
  tx: Tx,
  deps: CoverDeps,
  caller: LimitedCaller & { readonly actor: Actor },
  wanted: WantedBudget,
): Promise<Budget> {
  const { tenant } = caller;
  if (wanted.keyId !== null) await refuseForeignKey(tx, tenant, wanted.keyId);
  const now = await findNow(tx);
  const periodStart = wanted.period === 'total' ? now : startOfPeriod(wanted.period, now);
  const uid = newId('bu');
  await insertBudget(tx, tenant, { ...wanted, uid, periodStart });
  await takePlace(tx, limitHolderOf(caller), BUDGETS_LIMIT, (most) => countBudgets(tx, tenant, most));
  await markBudgets(tx, tenant, true);
  await coverTokens(tx, deps, tenant, uid);
  const made = (await findBudget(tx, tenant, wanted.id))!;
  await appendAudit(tx, tenant, caller.actor, {
    action: 'budget_made',
    subject: made.id,
    before: null,
    after: auditedOf(made),
  });
  return made;
}

/** A budget of such a key would refuse nothing, and a mistyped id would not be noticed. A revoked key may still have sessions. */
async function refuseForeignKey(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  const key = (await findKeysById(tx, [id])).get(id);
  const admitting = key?.kind === 'backend' ? key : (await findCredentialsById(tx, [id])).get(id);
  if (admitting?.tenant === tenant) return;
  throw invalidField('key', 'must be the id of a backend key or a device credential of the tenant');
}

/** Sums of another scope or period would not belong to what is spent and held. */
function refuseOther(found: Budget, wanted: WantedBudget): void {
  const fields = { key: 'keyId', room: 'room', customer: 'customer', period: 'period' } as const;
  for (const [field, property] of Object.entries(fields)) {
    if (found[property] === wanted[property]) continue;
    const message = `invalid request: ${field} cannot be changed: delete the budget and make another one`;
    throw new Failure('immutable_field', { message, field });
  }
}

/** The highest share that is spent. */
function highestTold(budget: Pick<Budget, 'shares' | 'max' | 'spent'>): number {
  return sharesToTell({ ...budget, told: 0 }).at(-1) ?? 0;
}

/** As the audit trail has it: without a customer's label, which may name a person. */
export function auditedOf({ keyId, room, customer, period, max, hard, shares }: WantedBudget) {
  return {
    key: keyId,
    room,
    ...(customer !== null && { of_customer: true }),
    period,
    limit_micros: max,
    hard,
    alert_percents: shares,
  };
}
