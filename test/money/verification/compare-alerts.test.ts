import { expect, it } from 'vitest';
import { compareAlerts } from '../../../src/money/verification/compare-alerts.sql.ts';
import { useDatabase } from '../../support/database.ts';
import { post } from '../../support/months.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();

/** Write thresholds as no operation would. */
async function thresholds(tenant: bigint, rows: string): Promise<void> {
  await database.pool.query(
    `insert into alert_thresholds (tenant_id, kind, below, burn, measured_at, raised_at)
     select ${tenant}, kind, below, burn, case when burn is not null then now() end, case when is_raised then now() end
       from (values ${rows}) as t (kind, below, burn, is_raised)`,
  );
}

it('reports alerts that the balance does not call for, or that are missing', async () => {
  const { pool } = database;
  const tenant = await makeTenant(pool, { status: 'active' });
  await post(pool, tenant, { kind: 'adjustment', amount: 100n });
  await thresholds(
    tenant,
    `('balance', 100, null::bigint, false), ('balance', 101, null, true),
     ('runway', 10, 10, false), ('runway', 1, 0, false), ('runway', 20, 5, true)`,
  );
  expect(await compareAlerts(pool)).toEqual([]);
  await thresholds(
    tenant,
    `('balance', 99, null::bigint, true), ('balance', 102, null, false),
     ('runway', 11, 10, false), ('runway', 2, 0, true), ('runway', 9, 10, true)`,
  );
  const found = (await compareAlerts(pool)).sort((a, b) => a.what.localeCompare(b.what));
  expect(found).toEqual([
    {
      tenant,
      what: 'alert below 102 micros',
      expected: 'raised, at balance 100',
      found: 'not raised, floor 102',
    },
    {
      tenant,
      what: 'alert below 11 hours',
      expected: 'raised, at balance 100',
      found: 'not raised, floor 110',
    },
    {
      tenant,
      what: 'alert below 2 hours',
      expected: 'not raised, at balance 100',
      found: 'raised, floor none',
    },
    {
      tenant,
      what: 'alert below 9 hours',
      expected: 'not raised, at balance 100',
      found: 'raised, floor 90',
    },
    {
      tenant,
      what: 'alert below 99 micros',
      expected: 'not raised, at balance 100',
      found: 'raised, floor 99',
    },
  ]);
  await pool.query('update tenants set exempt = true where id = $1', [tenant]);
  expect(await compareAlerts(pool)).toEqual([]);
});
