/** SQL of `statement_notices`: up to which month tenants were told of their statements. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { isOneOf } from '../accounts/accounts.sql.ts';
import { type Month, startOf } from '../month.ts';

/** Those of the tenants that were not told of this month, or of a later one. From now on all of them count as told. */
export async function takeUntold(tx: Tx, tenants: readonly TenantId[], month: Month): Promise<TenantId[]> {
  const groups = isDistributed() ? tenants.map((tenant) => [tenant]) : [tenants];
  const untold: TenantId[] = [];
  for (const group of groups) untold.push(...(await takeGroup(tx, group, month)));
  return untold;
}

/** Leaves out those that were told before it would lock their rows: each process looks again after its start. */
async function takeGroup(tx: Tx, tenants: readonly TenantId[], month: Month): Promise<TenantId[]> {
  const tenant = isDistributed() ? '$2::bigint' : 'a.tenant_id';
  const { rows } = await tx.query<{ tenant: TenantId }>({
    name: 'take-untold-statements',
    text: `insert into statement_notices as n (tenant_id, month)
           select a.tenant_id, ($1::timestamptz at time zone 'UTC')::date from accounts a
            where a.tenant_id ${isOneOf('$2')}
              and not exists (select from statement_notices told where told.tenant_id = ${tenant}
                                 and told.month >= ($1::timestamptz at time zone 'UTC')::date)
            order by a.tenant_id
           on conflict (tenant_id) do update set month = excluded.month where n.month < excluded.month
           returning tenant_id as tenant`,
    values: [startOf(month), isDistributed() ? tenants[0] : tenants],
  });
  return rows.map((row) => row.tenant);
}
