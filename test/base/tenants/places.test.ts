import { beforeEach, describe, expect, test, vi } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { Failure } from '../../../src/base/failure.ts';
import { type LimitHolder, takePlace } from '../../../src/base/tenants/places.sql.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { useDatabase } from '../../support/database.ts';
import { makeTenant } from '../../support/tenants.ts';

const database = useDatabase();
const LIMIT = { name: 'rooms', pending: 1, active: 1, unit: 'live rooms' };
let tenant: TenantId;

const holderWith = (rooms: number, status: LimitHolder['status'] = 'active'): LimitHolder => ({
  id: tenant,
  status,
  limits: { rooms },
});
/** Statuses stand for what is held: the table has no limit of its own. */
const held = async () => {
  const { rows } = await database.pool.query(
    'select count(*)::integer as count from tenant_status_changes where tenant_id = $1',
    [tenant],
  );
  return rows[0].count as number;
};
const create = (holder: LimitHolder, counted = vi.fn()) =>
  inTransaction(database.pool, async (tx) => {
    await tx.query(
      `insert into tenant_status_changes (tenant_id, at, old_status, new_status, reason)
       values ($1, clock_timestamp() + random() * interval '1 hour', 'active', 'active', '')`,
      [tenant],
    );
    await takePlace(tx, holder, LIMIT, async (most) => {
      counted(most);
      const { rows } = await tx.query(
        `select count(*)::integer as count
           from (select from tenant_status_changes where tenant_id = $1 limit $2) held`,
        [tenant, most],
      );
      return rows[0].count;
    });
  });
const remove = (count: number) =>
  database.pool.query(
    `delete from tenant_status_changes where tenant_id = $1 and at in
       (select at from tenant_status_changes where tenant_id = $1 limit $2)`,
    [tenant, count],
  );
const refusals = (results: readonly PromiseSettledResult<void>[]) =>
  results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));

beforeEach(async () => {
  tenant = await makeTenant(database.pool);
});

describe('takePlace', () => {
  test('of twenty concurrent creations, exactly as many succeed as there are places', async () => {
    for (let count = 0; count < 3; count += 1) await create(holderWith(8));
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => create(holderWith(8))));
    expect(refusals(results)).toHaveLength(15);
    for (const refusal of refusals(results)) {
      expect(refusal).toBeInstanceOf(Failure);
      expect(refusal).toMatchObject({
        kind: 'quota_exceeded',
        message: 'limit reached: at most 8 live rooms',
        metadata: { limit: 'rooms', max: '8' },
      });
    }
    expect(await held()).toBe(8);
  });

  test('of two concurrent creations of the very first place, one succeeds', async () => {
    const results = await Promise.allSettled([create(holderWith(1)), create(holderWith(1))]);
    expect(refusals(results)).toHaveLength(1);
    expect(await held()).toBe(1);
  });

  test('counts once, and then not before the places are taken', async () => {
    const counted = vi.fn();
    for (let count = 0; count < 10; count += 1) await create(holderWith(10), counted);
    expect(counted.mock.calls).toStrictEqual([[11]]);
    await expect(create(holderWith(10), counted)).rejects.toMatchObject({ kind: 'quota_exceeded' });
    expect(counted).toHaveBeenCalledTimes(2);
  });

  test('finds places that became free when it counts again', async () => {
    for (let count = 0; count < 5; count += 1) await create(holderWith(5));
    await expect(create(holderWith(5))).rejects.toMatchObject({ kind: 'quota_exceeded' });
    await remove(2);
    await create(holderWith(5));
    await create(holderWith(5));
    await expect(create(holderWith(5))).rejects.toMatchObject({ kind: 'quota_exceeded' });
    expect(await held()).toBe(5);
  });

  test('a limit that changes applies to the next creation, and a tenant beyond it keeps what it has', async () => {
    for (let count = 0; count < 5; count += 1) await create(holderWith(100));
    await expect(create(holderWith(3))).rejects.toMatchObject({ metadata: { limit: 'rooms', max: '3' } });
    expect(await held()).toBe(5);
    await create(holderWith(6));
    await expect(create(holderWith(6))).rejects.toMatchObject({ metadata: { limit: 'rooms', max: '6' } });
    await create(holderWith(100));
    expect(await held()).toBe(7);
  });

  test('a creation that fails afterwards gives its place back', async () => {
    await create(holderWith(2));
    const failing = inTransaction(database.pool, async (tx) => {
      await takePlace(tx, holderWith(2), LIMIT, async () => 2);
      throw new Error('failed afterwards');
    });
    await expect(failing).rejects.toThrow('failed afterwards');
    await create(holderWith(2));
    expect(await held()).toBe(2);
  });

  test('limits and tenants have places of their own', async () => {
    await create(holderWith(1));
    const other = await makeTenant(database.pool);
    await inTransaction(database.pool, async (tx) => {
      await takePlace(tx, { ...holderWith(1), id: other }, LIMIT, async () => 1);
      const bans = { ...holderWith(1), limits: { bans: 1 } };
      await takePlace(tx, bans, { ...LIMIT, name: 'bans' }, async () => 1);
    });
    await expect(create(holderWith(1))).rejects.toMatchObject({ kind: 'quota_exceeded' });
  });
});
