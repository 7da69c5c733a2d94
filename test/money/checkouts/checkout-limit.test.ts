import { describe, expect, test } from 'vitest';
import { CheckoutLimit } from '../../../src/money/checkouts/checkout-limit.ts';
import { expectError, expectOk } from '../../doors/rest/support.ts';
import { useDatabase } from '../../support/database.ts';
import { useService } from '../../support/service.ts';
import { idOf, makeTenant } from '../../support/tenants.ts';

const TOO_MANY = { kind: 'too_many_checkouts', message: 'too many checkouts: try again later' };

describe('checkouts of a tenant', () => {
  const database = useDatabase();

  test.each([
    ['a tenant that never paid', { status: 'pending', limits: null }, 60],
    ['an active tenant', { status: 'active', limits: null }, 60],
    ['a tenant with a limit of its own', { status: 'active', limits: { checkouts_per_hour: 2 } }, 2],
  ] as const)(
    '%s: a number an hour, in all processes, and another tenant its own',
    async (_what, tenant, max) => {
      const [id, other] = [await makeTenant(database.pool), await makeTenant(database.pool)];
      const processes = [new CheckoutLimit(database.pool, 1_000), new CheckoutLimit(database.pool, 1_000)];
      for (let at = 0; at < max; at += 1) await processes[at % 2]!.count({ id, ...tenant });
      for (const each of processes) {
        await expect(each.count({ id, ...tenant })).rejects.toMatchObject({
          ...TOO_MANY,
          metadata: { limit: 'checkouts_per_hour' },
        });
      }
      await processes[0]!.count({ id: other, ...tenant });
    },
  );
});

describe('checkouts of the deployment', () => {
  const database = useDatabase();
  const payers = (count: number) =>
    Promise.all(
      Array.from({ length: count }, async () => ({
        id: await makeTenant(database.pool),
        status: 'pending' as const,
        limits: null,
      })),
    );

  test('beyond its limit a second they wait for a turn', async () => {
    const limit = new CheckoutLimit(database.pool, 2);
    const begun = performance.now();
    await Promise.all((await payers(4)).map((payer) => limit.count(payer)));
    expect(performance.now() - begun).toBeGreaterThan(900);
  });

  test('of tenants that never paid leave a third to the others', async () => {
    const limit = new CheckoutLimit(database.pool, 3);
    const [free, paid] = await payers(2);
    const count = (points: number, expire: number) =>
      database.pool.query(
        `insert into rate_limits (key, points, expire) values ('checkouts:never_paid', $1, $2)
         on conflict (key) do update set points = excluded.points, expire = excluded.expire`,
        [points, expire],
      );
    await count(1, Date.now() + 60_000);
    await limit.count(free!);
    await count(2, Date.now() + 5_000);
    const order: string[] = [];
    await Promise.all([
      limit.count(free!).then(() => order.push('never paid')),
      limit.count({ ...paid!, status: 'active' }).then(() => order.push('paid')),
    ]);
    expect(order).toStrictEqual(['paid', 'never paid']);
  });

  test('and are refused when no turn comes', async () => {
    await database.pool.query(
      `insert into rate_limits (key, points, expire) values ('checkouts:all', 9, $1)
      on conflict (key) do update set points = 9, expire = excluded.expire`,
      [Date.now() + 300],
    );
    const limit = new CheckoutLimit(database.pool, 0);
    const [payer] = await payers(1);
    await expect(limit.count(payer!)).rejects.toMatchObject({
      kind: 'too_many_checkouts',
      message: 'too many checkouts at once: try again soon',
      // Not refused by a limit of the tenant, so not counted as one.
      metadata: {},
    });
  });
});

describe('POST /v1/billing/checkout', () => {
  const app = useService();

  test('answers 429 beyond the limit, and opens nothing at the provider', async () => {
    const tenant = await app.signUp();
    await app.service.deps.db.query(`update tenants set limits = '{"checkouts_per_hour": 3}' where id = $1`, [
      idOf(tenant),
    ]);
    const open = () =>
      app.request('POST', '/v1/billing/checkout', { key: tenant.key, body: { amount_cents: 1000 } });
    // Signup opened the first.
    for (let at = 0; at < 2; at += 1) expectOk(await open());
    const refused = await open();
    expectError(refused, 429, TOO_MANY.message);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
    const { rows } = await app.service.deps.db.query(
      'select count(*)::integer as checkouts from checkouts where tenant_id = $1',
      [idOf(tenant)],
    );
    expect(rows).toStrictEqual([{ checkouts: 3 }]);
    const sessions = await app.stripe.checkout.sessions.list({ limit: 100 });
    expect(sessions.data).toHaveLength(3);
  });
});
