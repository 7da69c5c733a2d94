/** SQL of `budget_alerts`: how many alerts of each budget were told today, in UTC. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

const TODAY = `(now() at time zone 'UTC')::date`;

/** By the id of the budget, those of deleted ones included. */
export async function listToldToday(tx: Tx, tenant: TenantId): Promise<Map<string, number>> {
  const { rows } = await tx.query<{ budget: string; told: number }>({
    name: 'list-told-budget-alerts',
    text: `select budget, told from budget_alerts, (select ${TODAY} as today) as t where tenant_id = $1 and day = today`,
    values: [tenant],
  });
  return new Map(rows.map(({ budget, told }) => [budget, told]));
}

/** The counts of earlier days are deleted. */
export async function addTold(tx: Tx, tenant: TenantId, added: ReadonlyMap<string, number>): Promise<void> {
  if (added.size === 0) return;
  await tx.query({
    name: 'add-told-budget-alerts',
    // In the order of the ids, so that two transactions never wait for each other.
    text: `insert into budget_alerts as a (tenant_id, day, budget, told)
           select $1, ${TODAY}, id, told from unnest($2::text[], $3::integer[]) as u (id, told) order by id
           on conflict (tenant_id, day, budget) do update set told = a.told + excluded.told`,
    values: [tenant, [...added.keys()], [...added.values()]],
  });
  await tx.query({
    name: 'forget-told-budget-alerts',
    text: `delete from budget_alerts a using (select ${TODAY} as today) as t where a.tenant_id = $1 and a.day < t.today`,
    values: [tenant],
  });
}
