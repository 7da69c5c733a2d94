/** Payments with tax, compared with the provider. */
import { expect, it } from 'vitest';
import { type Comparison, compareWithProvider } from '../../../src/money/verification/compare-provider.ts';
import { compareReversals } from '../../../src/money/verification/verify.sql.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService({ checkoutOptions: { tax: true, taxIds: false, invoices: false } });
const db = () => app.service.deps.db;

async function ofTenant(tenant: TestTenant, comparison: Comparison = {}) {
  const differences: string[][] = [];
  for await (const { what, expected, found, ...each } of compareWithProvider(db(), app.stripe, comparison)) {
    if (each.tenant === idOf(tenant)) differences.push([what, expected, found]);
  }
  return differences;
}

async function paidTenant(): Promise<{ tenant: TestTenant; payment: string }> {
  const tenant = await app.signUp();
  return { tenant, ...(await app.pay(tenant, { cents: 2000 })) };
}

it('nothing differs after refunds and disputes of all kinds', async () => {
  const { tenant, payment } = await paidTenant();
  const { control } = app.sandbox;
  control.refund(payment, { amount: 333 });
  control.refund(payment, { amount: 200, outcome: 'failed' });
  control.winDispute(control.dispute(payment).id, { amount: 700 });
  await app.pay(tenant, { cents: 1000, country: 'CH' });
  await app.settled();
  expect(await ofTenant(tenant)).toEqual([]);
  const now = { since: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 3_600_000) };
  expect(await ofTenant(tenant, { period: now })).toEqual([]);
  expect(await compareReversals(db())).toEqual([]);
});

it('a payment of which tax was credited differs', async () => {
  const { tenant, payment } = await paidTenant();
  await db().query('update payments set credited = credited + tax, tax = 0 where id = $1', [payment]);
  expect(await ofTenant(tenant)).toEqual([
    [`tax ${payment} at the provider`, `$1.650000 of ${payment}`, 'not booked'],
  ]);
});

it('tax that the provider does not know differs', async () => {
  const { tenant } = await paidTenant();
  const { payment } = await app.pay(tenant, { cents: 1000, country: 'CH' });
  await db().query('update payments set credited = credited - 7, tax = 7 where id = $1', [payment]);
  expect(await ofTenant(tenant)).toEqual([
    [`tax ${payment} at the provider`, `$0.000000 of ${payment}`, `$0.000007 of ${payment}`],
  ]);
});

it('tax of a payment without a payment page differs', async () => {
  const { tenant, payment } = await paidTenant();
  await db().query(`update payments set id = 'pi_invented' where id = $1`, [payment]);
  expect(await ofTenant(tenant)).toEqual(
    expect.arrayContaining([
      ['tax pi_invented at the provider', 'no such tax', '$1.650000 of pi_invented'],
      ['payment pi_invented at the provider', 'no such payment', expect.any(String)],
    ]),
  );
});

it('verify finds a reversal that took back tax as well', async () => {
  const { tenant, payment } = await paidTenant();
  app.sandbox.control.refund(payment, { amount: 433 });
  await app.settled();
  await db().query('update payments set reversed = 4330000 where id = $1', [payment]);
  expect(await compareReversals(db())).toEqual([
    {
      tenant: idOf(tenant),
      what: `reversals of payment ${payment}`,
      expected: '4000000',
      found: '4330000',
    },
  ]);
});
