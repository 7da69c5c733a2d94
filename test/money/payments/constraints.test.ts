import { beforeAll, expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
let tenant: TenantId;

beforeAll(async () => {
  tenant = await makeTenant(database.pool);
});

const payment = (kind: string, checkout: string | null, attempt: string | null) =>
  database.pool.query(
    `insert into payments (id, tenant_id, kind, credited, checkout_id, attempt_id) values ('pi_1', $1, $2, 1, $3, $4)`,
    [tenant, kind, checkout, attempt],
  );

const attempt = (state: string, customer: string | null, card: string | null, sentAt: string | null) =>
  database.pool.query(
    `insert into top_up_attempts (id, tenant_id, amount, state, customer_id, payment_method_id, first_sent_at)
     values ('tu_1', $1, 1, $2, $3, $4, $5)`,
    [tenant, state, customer, card, sentAt],
  );

const statusChange = (before: string, after: string) =>
  database.pool.query(
    `insert into tenant_status_changes (tenant_id, old_status, new_status, reason) values ($1, $2, $3, 'test')`,
    [tenant, before, after],
  );

const NOW = '2030-01-01T00:00:00Z';

test.each<[string, () => Promise<unknown>]>([
  ['a payment without a checkout or an attempt', () => payment('top_up', null, null)],
  ['a payment of a checkout and of an attempt', () => payment('top_up', 'co_1', 'tu_1')],
  ['a top-up of an attempt', () => payment('top_up', null, 'tu_1')],
  ['an automatic top-up of a checkout', () => payment('auto_top_up', 'co_1', null)],
  ['an attempt that was sent without a customer', () => attempt('unknown', null, 'pm_1', NOW)],
  ['an attempt that was sent without a card', () => attempt('unknown', 'cus_1', null, NOW)],
  ['an attempt that was sent without a time', () => attempt('unknown', 'cus_1', 'pm_1', null)],
  ['a change from an unknown status', () => statusChange('asleep', 'active')],
  ['a change to an unknown status', () => statusChange('active', 'asleep')],
])('the database refuses %s', async (_what, insert) => {
  await expect(insert()).rejects.toMatchObject({ code: '23514' });
});

test('the database accepts what the service writes', async () => {
  await payment('top_up', 'co_1', null);
  await attempt('unknown', 'cus_1', 'pm_1', NOW);
  await statusChange('pending', 'active');
});
