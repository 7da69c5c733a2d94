/** Budgets of tests, and tokens that take holds of them. */
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { Budget, WantedBudget } from '../../../src/control/budgets/budget.ts';
import { listBudgets } from '../../../src/control/budgets/budgets.sql.ts';
import { getBudget } from '../../../src/control/budgets/get-budgets.ts';
import { putBudget } from '../../../src/control/budgets/put-budget.ts';
import { type Charge, spendFromBudgets } from '../../../src/control/budgets/spend-from-budgets.ts';
import type { TestService, TestTenant } from '../../support/service.ts';
import { callerOf, idOf } from '../../support/tenants.ts';

/** A hard budget of the whole tenant, in all, unless `given` differs. */
export function wanted(given: Partial<WantedBudget> & Pick<WantedBudget, 'max'>): WantedBudget {
  return {
    id: 'all',
    ...{ keyId: null, room: null, customer: null },
    period: 'total',
    hard: true,
    shares: [],
    ...given,
  };
}

export function put(app: TestService, tenant: TestTenant, budget: WantedBudget): Promise<Budget> {
  return inTransaction(app.service.deps.db, (tx) =>
    putBudget(tx, app.service.deps, callerOf(idOf(tenant)), budget),
  );
}

export function read(app: TestService, tenant: TestTenant, id = 'all'): Promise<Budget> {
  return getBudget(app.service.deps.db, idOf(tenant), id);
}

/** Usage that was charged, in room `lobby` and now, unless it differs. */
export function spend(
  app: TestService,
  tenant: TestTenant,
  ...sums: (Partial<Charge> & Pick<Charge, 'participant' | 'seconds' | 'micros'>)[]
): Promise<void> {
  const whole = sums.map((sum) => ({ room: 'lobby', at: new Date(), keyId: null, customer: null, ...sum }));
  return inTransaction(app.service.deps.db, async (tx) =>
    spendFromBudgets(tx, idOf(tenant), whole, await listBudgets(tx, idOf(tenant))),
  );
}

/** Let so many seconds of all tokens pass, so that relays may report them. */
export async function pass(app: TestService, tenant: TestTenant, seconds: number): Promise<void> {
  await app.service.deps.db.query(
    `with tokens as (
       update admissions set admitted_at = admitted_at - make_interval(secs => $2), expires_at = expires_at - make_interval(secs => $2)
        where tenant_id = $1
     )
     update budget_holds set until = until - make_interval(secs => $2) where tenant_id = $1`,
    [idOf(tenant), seconds],
  );
}

/** Let all tokens expire so long ago. Tokens as well as holds: a job gives tokens that run the holds that they lack. */
export async function expireBefore(app: TestService, seconds: number): Promise<void> {
  await app.service.deps.db.query(
    `with tokens as (update admissions set expires_at = now() - make_interval(secs => $1))
     update budget_holds set until = now() - make_interval(secs => $1)`,
    [seconds],
  );
}

/** What a token for ten minutes as audience may cost at most, at the built-in rates: with video, and without. */
export const VIDEO_TOKEN = 64_000n;
export const AUDIO_TOKEN = 3_000n;
