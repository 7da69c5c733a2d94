import type Stripe from 'stripe';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Comparison, compareWithProvider } from '../../../src/money/verification/compare-provider.ts';
import type { Difference } from '../../../src/money/verification/verify.sql.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService();
const db = () => app.service.deps.db;

async function differences(comparison: Comparison = {}): Promise<Difference[]> {
  const found: Difference[] = [];
  for await (const each of compareWithProvider(db(), app.stripe, comparison)) found.push(each);
  return found;
}

/** The differences of one tenant. Others in this file may have some of their own. */
async function ofTenant(tenant: TestTenant, comparison?: Comparison): Promise<Omit<Difference, 'tenant'>[]> {
  return (await differences(comparison))
    .filter((each) => each.tenant === idOf(tenant))
    .map(({ tenant: _, ...rest }) => rest);
}

async function paidTenant(): Promise<{ tenant: TestTenant; payment: string }> {
  const tenant = await app.signUp();
  return { tenant, ...(await app.pay(tenant, { cents: 3000 })) };
}

/** The provider does something, and the service hears nothing of it until the test ends, by a sweep neither. */
function unheard<T>(work: () => T): T {
  app.sandbox.control.fault({ effect: 'drop', event: '*', count: 99 });
  app.sandbox.control.fault({ effect: 'fail_500', method: 'GET', path: '/v1/events*', count: 999 });
  return work();
}

afterEach(() => app.sandbox.control.clearFaults());

it('finds nothing after refunds and disputes of all kinds', async () => {
  const { control } = app.sandbox;
  const { tenant, payment } = await paidTenant();
  control.refund(payment, { amount: 500 });
  control.refund(payment, { amount: 200, outcome: 'failed' });
  control.refund(payment, { amount: 100, outcome: 'pending' });
  control.refund(payment, { amount: 100, outcome: 'requires_action' });
  control.winDispute(control.dispute(payment).id, { amount: 700 });
  const other = await app.pay(tenant, { cents: 2000 });
  control.loseDispute(control.dispute(other.payment).id);
  control.dispute((await app.pay(tenant, { cents: 2000 })).payment, { inquiry: true });
  await app.settled();
  expect(await ofTenant(tenant)).toEqual([]);
});

describe('finds a refund', () => {
  it('that was not booked', async () => {
    const { tenant, payment } = await paidTenant();
    const { id } = unheard(() => app.sandbox.control.refund(payment, { amount: 500 }));
    expect(await ofTenant(tenant)).toEqual([
      { what: `refund ${id} at the provider`, expected: `$5.000000 of ${payment}`, found: 'not booked' },
    ]);
  });

  it('that has failed since', async () => {
    const { tenant, payment } = await paidTenant();
    const { id } = app.sandbox.control.refund(payment, { amount: 500 });
    await app.settled();
    unheard(() => app.sandbox.control.settleRefund(id, 'failed'));
    expect(await ofTenant(tenant)).toEqual([
      {
        what: `refund ${id} at the provider`,
        expected: `$0.000000 of ${payment}`,
        found: `$5.000000 of ${payment}`,
      },
    ]);
  });

  it('that is booked with another amount or for another payment', async () => {
    const { tenant, payment } = await paidTenant();
    const { id } = app.sandbox.control.refund(payment, { amount: 500 });
    const { payment: another } = await app.pay(tenant, { cents: 1000 });
    await app.settled();
    await db().query('update refunds set amount = 70000, payment_id = $2 where id = $1', [id, another]);
    expect(await ofTenant(tenant)).toEqual([
      {
        what: `refund ${id} at the provider`,
        expected: `$5.000000 of ${payment}`,
        found: `$0.070000 of ${another}`,
      },
    ]);
  });

  it('that the provider does not know', async () => {
    const { tenant, payment } = await paidTenant();
    await db().query(
      `insert into refunds (id, payment_id, amount, status) values ('re_invented', $1, 70000, 'pending')`,
      [payment],
    );
    expect(await ofTenant(tenant)).toEqual([
      {
        what: 'refund re_invented at the provider',
        expected: 'no such refund',
        found: `$0.070000 of ${payment}`,
      },
    ]);
  });
});

describe('finds a dispute', () => {
  it('that was not booked, but none that moved no money', async () => {
    const { tenant, payment } = await paidTenant();
    const { id } = unheard(() => app.sandbox.control.dispute(payment, { inquiry: true }));
    expect(await ofTenant(tenant)).toEqual([]);
    unheard(() => app.sandbox.control.loseDispute(id));
    expect(await ofTenant(tenant)).toEqual([
      { what: `dispute ${id} at the provider`, expected: `$30.000000 of ${payment}`, found: 'not booked' },
    ]);
  });

  it('whose funds were reinstated in part', async () => {
    const { tenant, payment } = await paidTenant();
    const { id } = app.sandbox.control.dispute(payment);
    await app.settled();
    unheard(() => app.sandbox.control.winDispute(id, { amount: 700 }));
    expect(await ofTenant(tenant)).toEqual([
      {
        what: `dispute ${id} at the provider`,
        expected: `$23.000000 of ${payment}`,
        found: `$30.000000 of ${payment}`,
      },
    ]);
  });

  it('that the provider does not know', async () => {
    const { tenant, payment } = await paidTenant();
    await db().query(
      `insert into disputes (id, payment_id, amount, withdrawn) values ('du_invented', $1, 70000, 70000)`,
      [payment],
    );
    expect(await ofTenant(tenant)).toMatchObject([{ expected: 'no such dispute' }]);
  });
});

it('leaves out refunds and disputes of payments that are not ours', async () => {
  const { id: customer } = await app.stripe.customers.create({});
  const method = app.sandbox.control.saveCard(customer, '4242424242424242');
  const intent = await app.stripe.paymentIntents.create({
    amount: 5000,
    currency: 'usd',
    customer,
    payment_method: String(method.id),
    confirm: true,
    off_session: true,
  });
  app.sandbox.control.refund(intent.id, { amount: 100 });
  app.sandbox.control.dispute(intent.id);
  await app.settled();
  expect(
    (await differences()).filter(({ expected, found }) => `${expected} ${found}`.includes(intent.id)),
  ).toEqual([]);
});

it('asks for each one by its id before it says that the provider does not know it', async () => {
  const { tenant, payment } = await paidTenant();
  app.sandbox.control.refund(payment, { amount: 500 });
  app.sandbox.control.dispute((await app.pay(tenant, { cents: 1000 })).payment);
  await app.settled();
  const nothing = { object: 'list', data: [], has_more: false } as never;
  const lists = [app.stripe.paymentIntents, app.stripe.refunds, app.stripe.disputes].map((resource) =>
    vi.spyOn(resource as Stripe['refunds'], 'list').mockReturnValueOnce(Object.assign([], nothing)),
  );
  try {
    expect(await ofTenant(tenant)).toEqual([]);
    for (const list of lists) expect(list).toHaveBeenCalledOnce();
  } finally {
    for (const list of lists) list.mockRestore();
  }
});

describe('with a period', () => {
  const NOW = { since: new Date(Date.now() - 3_600_000), until: new Date(Date.now() + 3_600_000) };
  const LATER = { since: new Date(Date.now() + 3_600_000), until: new Date(Date.now() + 7_200_000) };

  it('compares what the provider created in it', async () => {
    const { tenant, payment } = await paidTenant();
    unheard(() => app.sandbox.control.refund(payment, { amount: 500 }));
    expect(await ofTenant(tenant, { period: NOW })).toMatchObject([{ found: 'not booked' }]);
    expect(await ofTenant(tenant, { period: LATER })).toEqual([]);
  });

  it('compares what changed here in it', async () => {
    const { tenant, payment } = await paidTenant();
    await db().query(
      `insert into refunds (id, payment_id, amount, status) values ('re_invented_too', $1, 1, 'succeeded')`,
      [payment],
    );
    expect(await ofTenant(tenant, { period: NOW })).toMatchObject([{ expected: 'no such refund' }]);
    expect(await ofTenant(tenant, { period: LATER })).toEqual([]);
  });

  it('compares what is still open, however old', async () => {
    const { tenant, payment } = await paidTenant();
    const refund = app.sandbox.control.refund(payment, { amount: 500, outcome: 'pending' });
    const { payment: another } = await app.pay(tenant, { cents: 1000 });
    const dispute = app.sandbox.control.dispute(another);
    await app.settled();
    unheard(() => app.sandbox.control.settleRefund(refund.id, 'failed'));
    unheard(() => app.sandbox.control.winDispute(dispute.id));
    const whats = (await ofTenant(tenant, { period: LATER })).map(({ what }) => what);
    expect(whats).toEqual([`refund ${refund.id} at the provider`, `dispute ${dispute.id} at the provider`]);
  });
});

it('ends when it is told to', async () => {
  const signal = AbortSignal.abort(new Error('stopping'));
  await expect(differences({ signal })).rejects.toThrow('stopping');
});
