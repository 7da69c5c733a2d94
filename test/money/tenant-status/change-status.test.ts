import { beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import {
  newTenantId,
  TENANT_STATUSES,
  type TenantId,
  type TenantStatus,
} from '../../../src/base/tenants/tenant.ts';
import { changeStatus, setExempt } from '../../../src/money/tenant-status/change-status.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';

const database = useDatabase();
let tenant: TenantId;

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
});

const find = async () =>
  (await database.pool.query('select status, exempt from tenants where id = $1', [tenant])).rows[0];
const history = async () => {
  const text =
    'select old_status, new_status, reason from tenant_status_changes where tenant_id = $1 order by at';
  return (await database.pool.query(text, [tenant])).rows;
};
const kindOf = (error: unknown) => (error instanceof Failure ? error.kind : error);
const move = (to: TenantStatus, reason = 'because') =>
  changeStatus(database.pool, OPERATOR, tenant, to, reason).catch(kindOf);

describe('changeStatus', () => {
  test('changes the status and records the history', async () => {
    await database.pool.query("update tenants set status = 'active' where id = $1", [tenant]);
    for (const to of ['suspended', 'active', 'archived', 'active', 'deleted'] as const)
      expect(await move(to)).toBeUndefined();
    expect((await find()).status).toBe('deleted');
    expect((await history()).map((row) => row.new_status)).toStrictEqual([
      'suspended',
      'active',
      'archived',
      'active',
      'deleted',
    ]);
    expect((await history())[0]).toStrictEqual({
      old_status: 'active',
      new_status: 'suspended',
      reason: 'because',
    });
  });

  test.each(TENANT_STATUSES)('a deleted tenant cannot become %s', async (to) => {
    expect(await move('deleted')).toBeUndefined();
    expect(await move(to)).toBe('status_change_refused');
    expect((await find()).status).toBe('deleted');
    expect(await history()).toHaveLength(1);
  });

  test('only a payment makes a pending tenant active', async () => {
    for (const to of ['pending', 'active', 'suspended', 'archived'] as const)
      expect(await move(to)).toBe('status_change_refused');
    expect(await history()).toStrictEqual([]);
  });

  test('a concurrent change is checked against the status after the first', async () => {
    await database.pool.query("update tenants set status = 'active' where id = $1", [tenant]);
    const outcomes = await Promise.all([move('suspended'), move('suspended'), move('suspended')]);
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(1);
    expect(await history()).toHaveLength(1);
  });

  test('fails for an unknown tenant', async () => {
    tenant = newTenantId();
    expect(await move('deleted')).toBe('not_found');
  });
});

describe('setExempt', () => {
  test('exempts a tenant, and ends that', async () => {
    await setExempt(database.pool, OPERATOR, tenant, true);
    expect((await find()).exempt).toBe(true);
    await setExempt(database.pool, OPERATOR, tenant, false);
    expect((await find()).exempt).toBe(false);
    expect(await setExempt(database.pool, OPERATOR, newTenantId(), true).catch(kindOf)).toBe('not_found');
  });
});
