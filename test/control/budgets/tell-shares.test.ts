import { beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { ALERTS_OF_BUDGET_MAX, ALERTS_OF_TENANT_MAX } from '../../../src/control/budgets/budget.ts';
import { deleteBudget } from '../../../src/control/budgets/delete-budget.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { callerOf, idOf } from '../../support/tenants.ts';
import { put, spend, wanted } from './support.ts';

const app = useService();
let tenant: TestTenant;
beforeEach(async () => {
  tenant = await app.paidTenant();
});

const soft = { hard: false, shares: [50, 100] };
const use = (micros: bigint) => spend(app, tenant, { participant: 'ann', seconds: 1, micros });
const query = <Row extends object>(text: string) =>
  app.service.deps.db.query<Row>(text, [idOf(tenant)]).then(({ rows }) => rows);

/** The shares that events told of, in the order of the events. */
async function told(): Promise<number[]> {
  const rows = await query<{ percent: number }>(
    `select (subject->>'percent')::integer as percent from (
       select subject, seq from events where tenant_id = $1 and type = 'budget_alert'
       union all select subject, null from unnumbered_events where tenant_id = $1 and type = 'budget_alert') e
     order by seq`,
  );
  return rows.map(({ percent }) => percent);
}

test('each share is told of once, and again after the limit was raised above it', async () => {
  await put(app, tenant, wanted({ max: 100n, ...soft }));
  await use(60n);
  await put(app, tenant, wanted({ max: 100n, ...soft }));
  expect(await told()).toEqual([50]);
  await put(app, tenant, wanted({ max: 200n, ...soft }));
  await use(50n);
  expect(await told()).toEqual([50, 50]);
});

test('a limit that is raised and lowered again and again tells so many times a day', async () => {
  const shares = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
  await put(app, tenant, wanted({ max: 1_000_000n, hard: false, shares }));
  await use(100n);
  for (let round = 0; round < 5; round += 1)
    for (const max of [100n, 1_000_000n]) await put(app, tenant, wanted({ max, hard: false, shares }));
  expect(await told()).toHaveLength(ALERTS_OF_BUDGET_MAX);

  // One that is made again goes on counting.
  await inTransaction(app.service.deps.db, (tx) => deleteBudget(tx, callerOf(idOf(tenant)), 'all'));
  await put(app, tenant, wanted({ max: 100n, hard: false, shares }));
  await use(100n);
  expect(await told()).toHaveLength(ALERTS_OF_BUDGET_MAX);

  await query(`update budget_alerts set day = day - 1 where tenant_id = $1`);
  await put(app, tenant, wanted({ max: 10_000n, hard: false, shares }));
  await put(app, tenant, wanted({ max: 100n, hard: false, shares }));
  expect(await told()).toHaveLength(ALERTS_OF_BUDGET_MAX + 10);
  expect(await query('select told from budget_alerts where tenant_id = $1')).toEqual([{ told: 10 }]);
});

test('a tenant has a limit of its own, and the highest shares come first', async () => {
  await put(app, tenant, wanted({ max: 100n, ...soft }));
  await query(
    `insert into budget_alerts (tenant_id, day, budget, told)
     values ($1, (now() at time zone 'UTC')::date, 'another', ${ALERTS_OF_TENANT_MAX - 1})`,
  );
  await use(100n);
  expect(await told()).toEqual([100]);
});
