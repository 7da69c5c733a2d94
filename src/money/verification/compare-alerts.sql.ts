/** SQL that compares thresholds of alerts with balances. */
import type { Db } from '../../base/db/pool.ts';
import { DIFFERENCES_MAX, type Difference } from './verify.sql.ts';

/** Every alert is raised that the balance raises, and no other. Alerts of exempt tenants rest. */
export async function compareAlerts(db: Db): Promise<Difference[]> {
  const { rows } = await db.query<Difference>({
    name: 'compare-alerts',
    text: `select a.tenant_id as tenant,
                  format('alert below %s %s', r.below, case r.kind when 'balance' then 'micros' else 'hours' end) as what,
                  case when r.raised_at is null then 'raised' else 'not raised' end || ', at balance ' || a.balance
                    as expected,
                  case when r.raised_at is null then 'not raised' else 'raised' end || ', floor '
                    || coalesce(r.floor::text, 'none') as found
             from alert_thresholds r
             join accounts a on a.tenant_id = r.tenant_id
             join tenants t on t.id = r.tenant_id
            where not t.exempt
              and case when r.raised_at is null then coalesce(a.balance < r.floor, false)
                       else coalesce(a.balance >= r.recover_from, true) end
            limit $1`,
    values: [DIFFERENCES_MAX],
  });
  return rows;
}
