/** Payments that include tax: what is credited, and what refunds and disputes take back. */
import { describe, expect, it } from 'vitest';
import { listPayments } from '../../../src/money/payments/list-payments.ts';
import { settleParked } from '../../../src/money/provider-events/settle-parked.ts';
import type { TestTenant } from '../../support/service.ts';
import { DECLINES_LATER, GOOD_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments({ checkoutOptions: { tax: true, taxIds: true, invoices: true } });
const { app, db } = kit;

/** The sandbox adds 8.25 % in the United States, and nothing elsewhere. */
const paidTenant = async (options: { cents?: number; country?: string } = {}) => {
  const tenant = await app.signUp();
  return { tenant, ...(await app.pay(tenant, { cents: 2000, ...options })) };
};

async function listed(tenant: TestTenant) {
  const page = await listPayments(db(), kit.idOf(tenant), { after: undefined, size: 10 });
  return page!.items.map(({ id, credited, tax, reversed }) => ({ id, credited, tax, reversed }));
}

async function entriesOf(tenant: TestTenant): Promise<[string, number][]> {
  const { recent } = await kit.billing(tenant);
  return recent.map((each: { kind: string; amount: { micros: number } }) => [each.kind, each.amount.micros]);
}

describe('a checkout with tax', () => {
  it('credits what was ordered, not the tax', async () => {
    const { tenant, payment } = await paidTenant();
    expect(await app.stripe.paymentIntents.retrieve(payment)).toMatchObject({ amount_received: 2165 });
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    expect(await entriesOf(tenant)).toEqual([['top_up', 20_000_000]]);
    expect(await listed(tenant)).toEqual([
      { id: payment, credited: 20_000_000n, tax: 1_650_000n, reversed: 0n },
    ]);
  });

  it('tells the provider so: tax on top, by the address that the page may save', async () => {
    const answer = await app.request('POST', '/v1/billing/checkout', {
      key: (await app.signUp()).key,
      body: { amount_cents: 3000 },
    });
    const [id] = /cs_test_\w+/.exec(answer.json.checkout_url)!;
    const session = await app.stripe.checkout.sessions.retrieve(id);
    expect(session).toMatchObject({
      amount_subtotal: 3000,
      automatic_tax: { enabled: true },
      tax_id_collection: { enabled: true },
      invoice_creation: {
        enabled: true,
        invoice_data: { metadata: { checkout: expect.stringMatching(/^co_/) } },
      },
    });
    expect(session.metadata).toEqual(session.invoice_creation!.invoice_data.metadata);
    app.sandbox.control.pay(id, { card: GOOD_CARD });
    await app.settled();
    const page = await app.request('GET', `/checkout/${session.metadata!.checkout}`);
    expect(page.text).toContain('your balance has grown by $30.00.');
  });

  it('credits the whole payment where no tax is due', async () => {
    const { tenant, payment } = await paidTenant({ country: 'CH' });
    expect(await app.stripe.paymentIntents.retrieve(payment)).toMatchObject({ amount_received: 2000 });
    expect(await listed(tenant)).toEqual([{ id: payment, credited: 20_000_000n, tax: 0n, reversed: 0n }]);
  });

  it('credits a bank debit without its tax when it settles', async () => {
    const { tenant, payment } = await paidTenant();
    const later = await app.pay(tenant, { cents: 1000, card: 'bank_debit_succeeds' });
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    app.sandbox.control.settle(later.payment);
    await app.settled();
    // 82.5 cents of tax are 83.
    expect(await listed(tenant)).toMatchObject([
      { id: later.payment, credited: 10_000_000n, tax: 830_000n },
      { id: payment },
    ]);
  });

  it('is settled without its tax if only an event about a refund arrives', async () => {
    const tenant = await app.signUp();
    app.sandbox.control.fault({ effect: 'drop', event: 'checkout.session.completed' });
    app.sandbox.control.fault({ effect: 'drop', event: 'payment_intent.succeeded' });
    const { payment } = await app.pay(tenant, { cents: 2000 });
    expect(await listed(tenant)).toEqual([]);
    app.sandbox.control.refund(payment, { amount: 2165 });
    await app.settled();
    expect(await listed(tenant)).toEqual([
      { id: payment, credited: 20_000_000n, tax: 1_650_000n, reversed: 20_000_000n },
    ]);
  });

  it('is credited without its tax after a restore', async () => {
    const tenant = await app.signUp();
    const answer = await app.request('POST', '/v1/billing/checkout', {
      key: tenant.key,
      body: { amount_cents: 2000 },
    });
    const [session] = /cs_test_\w+/.exec(answer.json.checkout_url)!;
    await db().query('delete from checkouts where session_id = $1', [session]);
    const { id } = app.sandbox.control.pay(session!, { card: GOOD_CARD });
    await app.settled();
    const { deps } = app.service;
    expect(await settleParked(deps, deps.provider!, id)).toMatchObject({ credited: { amount: 20_000_000n } });
    expect(await listed(tenant)).toMatchObject([{ credited: 20_000_000n, tax: 1_650_000n }]);
    const { rows } = await db().query('select amount from checkouts where session_id = $1', [session]);
    expect(rows).toEqual([{ amount: 20_000_000n }]);
  });

  it('waits while the provider does not tell the tax, and is credited after that', async () => {
    const tenant = await app.signUp();
    app.sandbox.control.fault({
      effect: 'fail_500',
      method: 'GET',
      path: '/v1/checkout/sessions',
      count: 2,
    });
    await app.pay(tenant, { cents: 2000 });
    expect(await listed(tenant)).toMatchObject([{ credited: 20_000_000n, tax: 1_650_000n }]);
  });
});

it('a payment that was made by hand for a checkout has no page, and is credited with its own amount', async () => {
  const tenant = await app.signUp();
  await app.request('POST', '/v1/billing/checkout', { key: tenant.key, body: { amount_cents: 3000 } });
  const { rows } = await db().query('select id from checkouts where tenant_id = $1 and amount = 30000000', [
    kit.idOf(tenant),
  ]);
  const payment = await kit.payDirectly({ tenant: tenant.id, checkout: rows[0].id });
  expect(await listed(tenant)).toEqual([{ id: payment, credited: 50_000_000n, tax: 0n, reversed: 0n }]);
});

it('a page without tax is not asked for', async () => {
  const { tenant } = await paidTenant({ country: 'CH' });
  app.sandbox.control.fault({ effect: 'fail_500', method: 'GET', path: '/v1/checkout/sessions' });
  await app.pay(tenant, { cents: 2000 });
  expect(app.sandbox.control.waitingFaults()).toHaveLength(1);
  expect(await kit.balanceOf(tenant)).toBe(40_000_000);
});

it('an automatic top-up has no tax', async () => {
  const { tenant } = await paidTenant();
  await kit.setTopUp(tenant, { enabled: true, below_cents: 1500, amount_cents: 3000 });
  await kit.spend(tenant, 1000);
  const { payment_id } = await kit.finished(tenant);
  expect(await app.stripe.paymentIntents.retrieve(payment_id!)).toMatchObject({ amount_received: 3000 });
  expect((await listed(tenant))[0]).toEqual({
    id: payment_id,
    credited: 30_000_000n,
    tax: 0n,
    reversed: 0n,
  });
  expect(await kit.balanceOf(tenant)).toBe(40_000_000);
});

it('an automatic top-up that is declined credits nothing', async () => {
  const tenant = await app.signUp();
  await app.pay(tenant, { cents: 2000, card: DECLINES_LATER });
  await kit.setTopUp(tenant, { enabled: true, below_cents: 1500, amount_cents: 3000 });
  await kit.spend(tenant, 1000);
  expect(await kit.finished(tenant)).toMatchObject({ state: 'declined' });
  expect(await kit.balanceOf(tenant)).toBe(10_000_000);
});

describe('a refund', () => {
  const refund = async (payment: string, amount?: number) => {
    const { id } = app.sandbox.control.refund(payment, { amount });
    await app.settled();
    return id;
  };

  it('of everything takes back exactly the credit', async () => {
    const { tenant, payment } = await paidTenant();
    await refund(payment);
    expect(await kit.balanceOf(tenant)).toBe(0);
    expect(await entriesOf(tenant)).toEqual([
      ['refund', -20_000_000],
      ['top_up', 20_000_000],
    ]);
  });

  it('of half takes back half of the credit', async () => {
    const { tenant, payment } = await paidTenant({ cents: 4000 });
    // 40.00 and 3.30 of tax
    await refund(payment, 2165);
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
  });

  it('in uneven parts takes back exactly the credit in the end', async () => {
    const { tenant, payment } = await paidTenant();
    const balances: number[] = [];
    for (const amount of [1, 333, 334, 1000]) {
      await refund(payment, amount);
      balances.push(await kit.balanceOf(tenant));
    }
    // 20 / 21.65 of each sum so far, rounded down: 1, 334, 668 and 1668 cents.
    expect(balances).toEqual([19_990_763, 16_914_550, 13_829_100, 4_591_225]);
    await refund(payment);
    expect(await kit.balanceOf(tenant)).toBe(0);
  });

  it('that fails gives the same share back', async () => {
    const { tenant, payment } = await paidTenant();
    const id = await refund(payment, 1000);
    app.sandbox.control.settleRefund(id, 'failed');
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
  });
});

describe('a dispute', () => {
  it('takes back the credit, and a win gives it back', async () => {
    const { tenant, payment } = await paidTenant();
    const { id } = app.sandbox.control.dispute(payment);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    app.sandbox.control.winDispute(id);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
  });

  it('that is won in part gives back the share of the credit', async () => {
    const { tenant, payment } = await paidTenant({ cents: 4000 });
    app.sandbox.control.winDispute(app.sandbox.control.dispute(payment).id, { amount: 2165 });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
  });

  it('after a refund takes back no more than the credit', async () => {
    const { tenant, payment } = await paidTenant();
    app.sandbox.control.refund(payment, { amount: 500 });
    app.sandbox.control.dispute(payment);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    expect(await listed(tenant)).toMatchObject([{ reversed: 20_000_000n }]);
  });
});
