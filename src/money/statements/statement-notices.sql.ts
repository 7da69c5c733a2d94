/** SQL of `statement_notices`: up to which month tenants were told of their statements. */
import { isDistributed } from '../../base/db/distribution.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { isOneOf } from '../accounts/accounts.sql.ts';
import { endOf, type Month, startOf } from '../month.ts';

/** A tenant that was not told of a month in which its balance moved. Balances are in micros. */
export interface UntoldTenant {
  readonly tenant: TenantId;
  readonly opening: bigint;
  readonly closing: bigint;
}

/** Those of the tenants that were not told of this month, or of a later one. From now on all of them count as told. */
export async function takeUntold(
  tx: Tx,
  tenants: readonly TenantId[],
  month: Month,
): Promise<UntoldTenant[]> {
  const groups = isDistributed() ? tenants.map((tenant) => [tenant]) : [tenants];
  const untold: UntoldTenant[] = [];
  for (const group of groups) untold.push(...(await takeGroup(tx, group, month)));
  return untold;
}

/** The balance after the newest posting before a time. */
const lastBefore = (time: string, tenant: string) =>
  `left join lateral (select seq, balance from postings p where p.tenant_id = ${tenant} and p.at < ${time}
                       order by seq desc limit 1)`;

async function takeGroup(tx: Tx, tenants: readonly TenantId[], month: Month): Promise<UntoldTenant[]> {
  const tenant = isDistributed() ? '$3::bigint' : 't.tenant_id';
  const { rows } = await tx.query<UntoldTenant>({
    name: 'take-untold-statements',
    text: `with t as (
             insert into statement_notices as n (tenant_id, month)
             select tenant_id, ($1::timestamptz at time zone 'UTC')::date from accounts
              where tenant_id ${isOneOf('$3')} order by tenant_id
             on conflict (tenant_id) do update set month = excluded.month where n.month < excluded.month
             returning tenant_id
           )
           select t.tenant_id as tenant, coalesce(opening.balance, 0) as opening, closing.balance as closing
             from t ${lastBefore('$1', tenant)} as opening on true ${lastBefore('$2', tenant)} as closing on true
            where opening.seq is distinct from closing.seq`,
    values: [startOf(month), endOf(month), isDistributed() ? tenants[0] : tenants],
  });
  return rows;
}
