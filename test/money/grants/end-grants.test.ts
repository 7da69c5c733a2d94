/** The job that ends grants, and tells tenants before. */
import { expect, test } from 'vitest';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { TenantTurns } from '../../../src/base/tenants/tenant-turns.ts';
import { endGrants } from '../../../src/money/grants/end-grants.ts';
import { spentOf } from '../../../src/money/grants/grant.ts';
import { grantCredit } from '../../../src/money/grants/grant-credit.ts';
import { listGrants } from '../../../src/money/grants/list-grants.ts';
import { eventsOf } from '../../support/events.ts';
import { post } from '../../support/months.ts';
import { useService } from '../../support/service.ts';
import { makeTenant, OPERATOR } from '../../support/tenants.ts';
import { endNow, pass, spend } from './support.ts';

const app = useService();
const db = () => app.service.deps.db;
const DAY_MS = 86_400_000;

async function grant(tenant: TenantId, amount: bigint, days: number) {
  const expiresAt = new Date(Date.now() + days * DAY_MS);
  const given = { amount, reason: 'for the summer', expiresAt, key: undefined };
  return (await grantCredit(db(), OPERATOR, tenant, given)).grant;
}

const end = () => endGrants(app.service.deps);

async function typesOf(tenant: TenantId): Promise<string[]> {
  return (await eventsOf(db(), tenant)).map(({ type }) => type);
}

async function endsOf(tenant: TenantId): Promise<bigint[]> {
  const { rows } = await db().query(
    `select amount from postings where tenant_id = $1 and kind = 'grant_expired' order by seq`,
    [tenant],
  );
  return rows.map(({ amount }) => amount);
}

test('several processes end each grant once', async () => {
  const { service } = await app.another();
  const tenants = await Promise.all(
    [1, 2, 3].map(async () => {
      const tenant = await makeTenant(db(), { status: 'active' });
      for (const amount of [3n, 4n, 5n]) await grant(tenant, amount, 20);
      await pass(db(), tenant, 21);
      return tenant;
    }),
  );
  await Promise.all([end(), endGrants(service.deps), end(), endGrants(service.deps)]);
  for (const tenant of tenants) {
    expect(await endsOf(tenant)).toEqual([-3n, -4n, -5n]);
    expect(await typesOf(tenant)).toEqual(['credit_restored', 'credit_spent']);
  }
});

test('a tenant whose turn fails is put off, and its grant ends later', async () => {
  const [broken, fine] = await Promise.all([1, 2].map(() => makeTenant(db(), { status: 'active' })));
  await db().query(
    `alter table postings add constraint no_end check (tenant_id <> ${broken} or kind <> 'grant_expired') not valid`,
  );
  for (const tenant of [broken!, fine!]) {
    await grant(tenant, 3n, 20);
    await pass(db(), tenant, 21);
  }
  const turns = new TenantTurns(app.service.deps.log.child({}, { level: 'silent' }), 'ending grants');
  await endGrants(app.service.deps, turns);
  expect(turns.leftOut()).toEqual([broken]);
  expect(await endsOf(fine!)).toEqual([-3n]);
  await db().query('alter table postings drop constraint no_end');
  await expect
    .poll(async () => {
      await endGrants(app.service.deps, turns);
      return endsOf(broken!);
    })
    .toEqual([-3n]);
});

test('charges beside ends: what a grant paid and what its end took are all of it', async () => {
  const tenant = await makeTenant(db(), { status: 'active' });
  const { id } = await grant(tenant, 50n, 20);
  const charges = Array.from({ length: 30 }, () => spend(db(), tenant, 1n));
  await charges[9];
  await endNow(db(), tenant);
  await Promise.all([...charges, end(), end()]);
  await end();
  const { items } = (await listGrants(db(), tenant))!;
  expect(items).toMatchObject([{ id, left: 0n, state: 'expired' }]);
  const [taken] = await endsOf(tenant);
  expect(taken).toBe(-items[0]!.forfeited);
  const { rows } = await db().query(
    `select count(*) from postings p join grants g using (tenant_id)
      where p.tenant_id = $1 and p.kind = 'usage' and p.at < g.expires_at`,
    [tenant],
  );
  expect(spentOf(items[0]!)).toBe(rows[0].count);
});

test('a clock that jumps back gives no grant back', async () => {
  const tenant = await makeTenant(db(), { status: 'active' });
  await grant(tenant, 10n, 20);
  await pass(db(), tenant, 21);
  await end();
  // As if it were two days ago.
  await pass(db(), tenant, -2);
  await spend(db(), tenant, 3n);
  await end();
  const { items, left } = (await listGrants(db(), tenant))!;
  expect([left, items[0]]).toMatchObject([0n, { state: 'expired', forfeited: 10n }]);
  expect(await endsOf(tenant)).toEqual([-10n]);
});

test('a tenant is told seven days before an end, once, unless nothing is left', async () => {
  const tenant = await makeTenant(db(), { status: 'active' });
  const { id } = await grant(tenant, 10n, 20);
  await grant(tenant, 3n, 19);
  await end();
  expect(await typesOf(tenant)).toEqual(['credit_restored']);
  await spend(db(), tenant, 4n);
  await pass(db(), tenant, 13);
  await Promise.all([end(), end()]);
  await end();
  const told = (await eventsOf(db(), tenant)).filter(({ type }) => type === 'grant_expiring');
  expect(told).toEqual([
    {
      type: 'grant_expiring',
      subject: {
        grantId: id,
        reason: 'for the summer',
        amount: '10',
        left: '9',
        expiresAt: expect.stringMatching(/^20/),
      },
    },
  ]);
  await pass(db(), tenant, 7);
  await end();
  expect(await typesOf(tenant)).toEqual(['credit_restored', 'grant_expiring', 'credit_spent']);
});

test('a shorter grant is told of at once, and one that has ended meanwhile no more', async () => {
  const [short, late] = [
    await makeTenant(db(), { status: 'active' }),
    await makeTenant(db(), { status: 'active' }),
  ];
  await grant(short, 10n, 2);
  await grant(late, 10n, 20);
  await pass(db(), late, 30);
  await end();
  expect(await typesOf(short)).toEqual(['credit_restored', 'grant_expiring']);
  expect(await typesOf(late)).toEqual(['credit_restored', 'credit_spent']);
});

test('a tenant whose balance is at the end of its range does not keep others waiting', async () => {
  const [stuck, other] = [
    await makeTenant(db(), { status: 'active' }),
    await makeTenant(db(), { status: 'active' }),
  ];
  for (const tenant of [stuck, other]) await grant(tenant, 10n, 2);
  await post(db(), stuck, { kind: 'adjustment', amount: -(2n ** 63n) });
  await post(db(), stuck, { kind: 'adjustment', amount: -5n });
  await pass(db(), stuck, 3);
  await pass(db(), other, 3);
  await end();
  expect(await endsOf(stuck)).toEqual([]);
  expect(await endsOf(other)).toEqual([-10n]);
  await post(db(), stuck, { kind: 'adjustment', amount: 2n ** 63n - 1n });
  await end();
  expect(await endsOf(stuck)).toEqual([-10n]);
});
