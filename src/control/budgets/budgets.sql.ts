/** SQL of `budgets`, and of the mark of tenants that have some. Every change locks its rows first, in the order of their uids. */
import type { Statement } from '../../base/db/pipeline.ts';
import type { Db, Tx } from '../../base/db/pool.ts';
import { countUpTo } from '../../base/tenants/places.sql.ts';
import { onServers } from '../../base/tenants/shares.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type Budget, type BudgetState, freeOf, type UsagePlace, type WantedBudget } from './budget.ts';

const COLUMNS = `id, uid, key_id as "keyId", room, customer, period, max, hard, shares, spent, held,
  period_start as "periodStart", told, created_at as "createdAt"`;

/** In the order of their ids. */
export function selectBudgets(tenant: TenantId): Statement<Budget> {
  return {
    name: 'list-budgets',
    text: `select ${COLUMNS} from budgets where tenant_id = $1 order by id`,
    values: [tenant],
  };
}

export async function listBudgets(db: Db, tenant: TenantId): Promise<Budget[]> {
  const { name, text, values = [] } = selectBudgets(tenant);
  const { rows } = await db.query<Budget>({ name, text, values: [...values] });
  return rows;
}

/** Up to `limit` with an id after `after`, in the order of their ids. */
export async function listBudgetPage(
  db: Db,
  tenant: TenantId,
  after: string,
  limit: number,
): Promise<Budget[]> {
  const { rows } = await db.query<Budget>({
    name: 'list-budget-page',
    text: `select ${COLUMNS} from budgets where tenant_id = $1 and id > $2 order by id limit $3`,
    values: [tenant, after, limit],
  });
  return rows;
}

/** Those that may cover a token of this key and customer. Their rooms have still to be compared. */
export async function listBudgetsFor(
  db: Db,
  tenant: TenantId,
  { keyId, customer }: Pick<UsagePlace, 'keyId' | 'customer'>,
): Promise<Budget[]> {
  const { rows } = await db.query<Budget>({
    name: 'list-budgets-for-token',
    text: `select ${COLUMNS} from budgets
            where tenant_id = $1 and (key_id is null or key_id = $2) and (customer is null or customer = $3)`,
    values: [tenant, keyId, customer],
  });
  return rows;
}

export async function findBudget(db: Db, tenant: TenantId, id: string): Promise<Budget | undefined> {
  const { rows } = await db.query<Budget>({
    name: 'find-budget',
    text: `select ${COLUMNS} from budgets where tenant_id = $1 and id = $2`,
    values: [tenant, id],
  });
  return rows[0];
}

/** Those of them that still exist. */
export async function lockBudgets(tx: Tx, tenant: TenantId, uids: readonly string[]): Promise<Budget[]> {
  if (uids.length === 0) return [];
  const { rows } = await tx.query<Budget>({
    name: 'lock-budgets',
    text: `select ${COLUMNS} from budgets where tenant_id = $1 and uid = any($2) order by uid for no key update`,
    values: [tenant, uids],
  });
  return rows;
}

export async function insertBudget(
  tx: Tx,
  tenant: TenantId,
  budget: WantedBudget & Pick<Budget, 'uid' | 'periodStart'>,
): Promise<void> {
  const { id, uid, keyId, room, customer, period, max, hard, shares, periodStart } = budget;
  await tx.query({
    name: 'insert-budget',
    text: `insert into budgets (tenant_id, id, uid, key_id, room, customer, period, max, hard, shares, free, period_start)
           values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      tenant,
      id,
      uid,
      keyId,
      room,
      customer,
      period,
      max,
      hard,
      shares,
      hard ? max : null,
      periodStart,
    ],
  });
}

/** The budget must be locked. */
export async function updateWanted(
  tx: Tx,
  tenant: TenantId,
  { id, max, hard, shares, told, ...state }: Budget,
): Promise<void> {
  await tx.query({
    name: 'update-budget',
    text: `update budgets set max = $3, hard = $4, shares = $5, told = $6, spent = $7, held = $8, free = $9, period_start = $10
            where tenant_id = $1 and id = $2`,
    values: [
      tenant,
      id,
      max,
      hard,
      shares,
      told,
      state.spent,
      state.held,
      hard ? freeOf({ max, ...state }) : null,
      state.periodStart,
    ],
  });
}

export async function deleteBudgetRow(tx: Tx, tenant: TenantId, id: string): Promise<void> {
  await tx.query({
    name: 'delete-budget',
    text: 'delete from budgets where tenant_id = $1 and id = $2',
    values: [tenant, id],
  });
}

type Changed = Pick<Budget, 'uid'> & BudgetState;

/** The state of locked budgets after usage or a hold that ended: what is free follows. */
export async function settleBudgets(tx: Tx, tenant: TenantId, budgets: readonly Changed[]): Promise<void> {
  await change(tx, 'settle-budgets', tenant, budgets, 'greatest(b.max - c.spent - c.held, 0)');
}

/**
 * The state of locked budgets after a hold that was taken or extended. The hold is taken from what is free: the database refuses one
 * that does not fit, by `budgets_free`.
 */
export async function holdFromBudgets(tx: Tx, tenant: TenantId, budgets: readonly Changed[]): Promise<void> {
  const freeBefore = 'greatest(b.max - c.spent - b.held, 0)';
  const free = `case when c.held > b.held then ${freeBefore} - (c.held - b.held)
                     else greatest(b.max - c.spent - c.held, 0) end`;
  await change(tx, 'hold-from-budgets', tenant, budgets, free);
}

async function change(tx: Tx, name: string, tenant: TenantId, budgets: readonly Changed[], free: string) {
  if (budgets.length === 0) return;
  await tx.query({
    name,
    text: `update budgets b
              set spent = c.spent, held = c.held, told = c.told, period_start = c.period_start,
                  free = case when b.hard then ${free} end
             from json_to_recordset($2) as c (uid text, spent bigint, held bigint, told smallint, period_start timestamptz)
            where b.tenant_id = $1 and b.uid = c.uid`,
    values: [
      tenant,
      JSON.stringify(
        budgets.map(({ uid, spent, held, told, periodStart }) => {
          return { uid, spent: `${spent}`, held: `${held}`, told, period_start: periodStart };
        }),
      ),
    ],
  });
}

/** Tenants that have made a budget in the last seconds. Those that never paid have no tokens. */
export async function listTenantsWithNewBudgets(db: Db, seconds: number): Promise<TenantId[]> {
  const rows = await onServers<{ tenant: TenantId }>(db, {
    name: 'list-tenants-with-new-budgets',
    text: (tenants) => `select b.tenant_id as tenant from budgets b join tenants t on t.id = b.tenant_id
      where b.created_at > now() - make_interval(secs => $1) and t.status <> 'pending' ${tenants.and('b.tenant_id', 2)}
      group by b.tenant_id order by min(b.created_at)`,
    values: [seconds],
  });
  return rows.map(({ tenant }) => tenant);
}

export function countBudgets(tx: Tx, tenant: TenantId, most: number): Promise<number> {
  return countUpTo(tx, 'count-budgets', most, 'select from budgets where tenant_id = $1', [tenant]);
}

/** The tenant must be locked. */
export async function markBudgets(tx: Tx, tenant: TenantId, hasBudgets: boolean): Promise<void> {
  await tx.query({
    name: 'mark-budgets',
    text: 'update tenants set has_budgets = $2 where id = $1 and has_budgets <> $2',
    values: [tenant, hasBudgets],
  });
}
