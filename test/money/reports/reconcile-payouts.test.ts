/** Payouts of the sandbox, compared with what is booked. */
import { beforeEach, describe, expect, it } from 'vitest';
import { parseMonth } from '../../../src/money/month.ts';
import { type Reconciliation, reconcilePayouts } from '../../../src/money/reports/reconcile-payouts.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';

const app = useService({ checkoutOptions: { tax: true, taxIds: false, invoices: false } });
const db = () => app.service.deps.db;

const DAY = 86_400;
const now = () => Math.floor(Date.now() / 1000);
const THIS_MONTH = new Date().toISOString().slice(0, 7);
const reconcile = (month = THIS_MONTH) => reconcilePayouts(db(), app.stripe, parseMonth(month)!);

/** What earlier tests of this file left behind. */
let earlier: Reconciliation;

beforeEach(async () => {
  emptyBalance();
  earlier = await reconcile();
});

async function newDifferences(month?: string) {
  const known = new Set(earlier.differences.map(({ what }) => what));
  return (await reconcile(month)).differences.filter(({ what }) => !known.has(what));
}

async function paid(cents = 2000): Promise<{ tenant: TestTenant; payment: string }> {
  const tenant = await app.signUp();
  return { tenant, ...(await app.pay(tenant, { cents, country: 'CH' })) };
}

/** A payment of another system that shares the provider's account. */
async function payElsewhere(amount = 5000): Promise<string> {
  const { id: customer } = await app.stripe.customers.create({});
  const method = app.sandbox.control.saveCard(customer, '4242424242424242');
  const { id } = await app.stripe.paymentIntents.create({
    amount,
    currency: 'usd',
    customer,
    payment_method: String(method.id),
    confirm: true,
    off_session: true,
  });
  return id;
}

/** A payout that is made as if two days had passed, so that all that is in the balance is due. */
const payOut = (request: Parameters<typeof app.sandbox.control.payOut>[0] = {}) =>
  app.sandbox.control.payOut({ created: now() + 2 * DAY, arrivalDate: now(), ...request });

/** Payouts of earlier tests arrive in this month as well. */
const only = ({ payouts }: Reconciliation, id: string) => payouts.find(({ payout }) => payout.id === id);

async function chargeOf(payment: string): Promise<string> {
  return String((await app.stripe.paymentIntents.retrieve(payment)).latest_charge);
}

/** Leaves nothing in the balance. */
function emptyBalance(): void {
  try {
    payOut();
  } catch {
    // It was empty.
  }
}

describe('payouts of payments, refunds and disputes that are booked', () => {
  it('differ in nothing, with tax and without', async () => {
    const { control } = app.sandbox;
    const { tenant, payment } = await paid(2000);
    const taxed = await app.pay(tenant, { cents: 3000, country: 'US' });
    control.refund(taxed.payment, { amount: 500 });
    control.refund(payment, { amount: 300, outcome: 'failed' });
    control.refund(payment, { amount: 100, outcome: 'pending' });
    const lost = control.dispute((await app.pay(tenant, { cents: 1000, country: 'CH' })).payment);
    control.loseDispute(lost.id);
    const won = control.dispute((await app.pay(tenant, { cents: 4000, country: 'CH' })).payment);
    control.winDispute(won.id, { amount: 700 });
    await app.settled();
    const { id } = payOut();

    const found = await reconcile();
    expect(await newDifferences()).toEqual([]);
    expect(found).toMatchObject({ soFar: true, waiting: [] });
    const gross = 2000 + 3248 + 1000 + 4000;
    const reversed = -500 - 100 - 1000 - 4000 + 700;
    const fees = -(58 + 30 + 94 + 30 + 29 + 30 + 116 + 30 + 2 * 1500);
    expect(only(found, id)?.sums).toEqual({ gross, reversed, fees, other: 0, net: gross + reversed + fees });
    expect(only(found, id)?.payout.amount).toBe(gross + reversed + fees);
  });

  it('may be on their way: a dispute that moved money twice is in two payouts', async () => {
    const { payment } = await paid(2000);
    const dispute = app.sandbox.control.dispute(payment);
    await app.settled();
    payOut();
    app.sandbox.control.winDispute(dispute.id);
    await app.settled();
    payOut();
    expect(await newDifferences()).toEqual([]);
  });
});

describe('finds', () => {
  it('what the provider paid and nobody here knows', async () => {
    await paid(2000);
    const foreign = await payElsewhere(5000);
    const refund = app.sandbox.control.refund(foreign, { amount: 700 });
    const { id } = payOut();
    expect(await newDifferences()).toEqual([
      { what: `refund ${refund.id} in payout ${id}`, expected: '-$7.000000', found: 'not booked' },
      { what: `payment ${foreign} in payout ${id}`, expected: '$50.000000', found: 'not booked' },
    ]);
  });

  it('what is booked with another amount', async () => {
    const { payment } = await paid(2000);
    const refund = app.sandbox.control.refund(payment, { amount: 500 });
    await app.settled();
    const { id } = payOut();
    await db().query('update payments set credited = credited + 1 where id = $1', [payment]);
    await db().query('update refunds set amount = amount - 1 where id = $1', [refund.id]);
    expect(await newDifferences()).toEqual([
      {
        what: `refund ${refund.id} in payout ${id}`,
        expected: '-$5.000000',
        found: '$4.999999 in, $4.999999 out',
      },
      {
        what: `payment ${payment} in payout ${id}`,
        expected: '$20.000000',
        found: '$20.000001 in, $0.000000 out',
      },
    ]);
  });

  it('a dispute of which less is booked', async () => {
    const { payment } = await paid(2000);
    const dispute = app.sandbox.control.dispute(payment);
    await app.settled();
    payOut();
    await db().query('update disputes set withdrawn = withdrawn - 1 where id = $1', [dispute.id]);
    expect(await newDifferences()).toMatchObject([
      { what: expect.stringContaining(`dispute ${dispute.id} in payout`), expected: '-$20.000000' },
    ]);
  });

  it('a payment that the provider keeps back', async () => {
    const { payment } = await paid(2000);
    await paid(1000);
    payOut({ except: await chargeOf(payment) });
    expect(await newDifferences()).toEqual([
      {
        what: `payment ${payment}`,
        expected: 'in a payout',
        found: expect.stringMatching(/^available since 2\d{3}-/),
      },
    ]);
    payOut();
    expect(await newDifferences()).toEqual([]);
  });

  it('what is booked here and has moved no money there', async () => {
    const { tenant, payment } = await paid(2000);
    payOut();
    const anHourAgo = `now() - interval '61 minutes'`;
    await db().query(
      `insert into payments (id, tenant_id, kind, credited, tax, checkout_id, settled_at)
       values ('pi_invented', $1, 'top_up', 20000, 1000, 'co_x', ${anHourAgo})`,
      [idOf(tenant)],
    );
    await db().query(
      `insert into refunds (id, payment_id, amount, status, changed_at)
       values ('re_invented', $1, 30000, 'succeeded', ${anHourAgo}), ('re_waits', $1, 30000, 'requires_action', ${anHourAgo}),
              ('re_young', $1, 30000, 'succeeded', now())`,
      [payment],
    );
    await db().query(
      `insert into disputes (id, payment_id, amount, withdrawn, changed_at)
       values ('du_invented', $1, 40000, 40000, ${anHourAgo}), ('du_inquiry', $1, 40000, 0, ${anHourAgo})`,
      [payment],
    );
    const month = new Date(Date.now() - 61 * 60_000).toISOString().slice(0, 7);
    const what = (kind: string) => `${kind} of ${tenant.id}`;
    expect(await newDifferences(month)).toEqual([
      { what: what('dispute du_invented'), expected: '-$0.040000 of the balance', found: 'no money moved' },
      { what: what('payment pi_invented'), expected: '$0.021000 of the balance', found: 'no money moved' },
      { what: what('refund re_invented'), expected: '-$0.030000 of the balance', found: 'no money moved' },
    ]);
  });

  it('nothing wrong with what was booked a month after the money moved', async () => {
    const { payment } = await paid(2000);
    const refund = app.sandbox.control.refund(payment, { amount: 500 });
    const dispute = app.sandbox.control.dispute((await paid(2000)).payment);
    await app.settled();
    payOut();
    await db().query(`update payments set settled_at = '2026-02-15' where id = $1`, [payment]);
    await db().query(`update refunds set changed_at = '2026-02-15' where id = $1`, [refund.id]);
    await db().query(`update disputes set changed_at = '2026-02-15' where id = $1`, [dispute.id]);
    expect(await reconcile('2026-02')).toMatchObject({ soFar: false, payouts: [], differences: [] });
  });

  it('a payout whose transactions are not known', async () => {
    await paid(2000);
    const { id, amount } = payOut({ manual: true });
    const found = await reconcile();
    expect(await newDifferences()).toEqual([
      {
        what: `transactions of payout ${id}`,
        expected: 'a list',
        found: 'not known: it was requested by hand',
      },
    ]);
    expect(only(found, id)?.sums).toEqual({ gross: 0, reversed: 0, fees: 0, other: amount, net: amount });
  });

  it('a payout that is not the sum of its transactions', async () => {
    await paid(2000);
    const { id } = payOut();
    const { payouts } = app.stripe;
    const own = payouts.list.bind(payouts);
    payouts.list = ((params: never) => ({
      async *[Symbol.asyncIterator]() {
        for await (const payout of own(params)) {
          yield payout.id === id ? { ...payout, amount: payout.amount + 1 } : payout;
        }
      },
    })) as never;
    try {
      expect(await newDifferences()).toEqual([
        { what: `transactions of payout ${id}`, expected: '1913', found: '1912' },
      ]);
    } finally {
      payouts.list = own;
    }
  });
});

it('a payout that failed is not due again', async () => {
  await paid(2000);
  const { id } = payOut({ status: 'failed' });
  expect(await newDifferences()).toEqual([]);
  expect(only(await reconcile(), id)?.payout.status).toBe('failed');
});

it('reads payouts and transactions over several pages', async () => {
  const { tenant } = await paid(1000);
  const payments = 101;
  for (let made = 1; made < payments; made += 1) {
    await app.pay(tenant, { cents: 1000, country: 'CH' });
    await db().query('delete from rate_limits');
  }
  const { id } = payOut();
  expect(await newDifferences()).toEqual([]);
  expect(only(await reconcile(), id)?.sums.gross).toBe(payments * 1000);
});

it('refuses a month that has not begun', async () => {
  await expect(reconcile('2999-01')).rejects.toThrow('invalid request: month 2999-01 has not begun');
});

describe('money that is not paid out yet', () => {
  const fresh = useService();
  const reconcileFresh = () => reconcilePayouts(fresh.service.deps.db, fresh.stripe, parseMonth(THIS_MONTH)!);

  it('is counted, and nothing wrong until a day after it was available', async () => {
    const tenant = await fresh.signUp();
    const { payment } = await fresh.pay(tenant, { cents: 2000 });
    await fresh.pay(tenant, { cents: 1000 });
    const waitingFor = (transactions: number, net: number) => ({
      differences: [],
      waiting: [{ currency: 'usd', transactions, net }],
    });
    expect(await reconcileFresh()).toMatchObject({ payouts: [], ...waitingFor(2, 1912 + 941) });

    const charge = String((await fresh.stripe.paymentIntents.retrieve(payment)).latest_charge);
    fresh.sandbox.control.payOut({ except: charge, created: now() + 1, arrivalDate: now() });
    expect(await reconcileFresh()).toMatchObject(waitingFor(1, 1912));

    await fresh.pay(tenant, { cents: 5000 });
    fresh.sandbox.control.payOut({ except: charge, created: now() + DAY + 1, arrivalDate: now() });
    const heldBack = {
      differences: [{ what: `payment ${payment}`, expected: 'in a payout' }],
      waiting: [],
    };
    expect(await reconcileFresh()).toMatchObject(heldBack);

    // A payout that was made earlier changes nothing, though the provider lists it first.
    await fresh.pay(tenant, { cents: 4000 });
    fresh.sandbox.control.payOut({ except: charge, created: now() + 1, arrivalDate: now() });
    expect(await reconcileFresh()).toMatchObject(heldBack);
  });

  it('of another system on the same account is not counted', async () => {
    await fresh.stripe.paymentIntents.create({
      amount: 5000,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      confirm: true,
    });
    await fresh.settled();
    expect((await reconcileFresh()).waiting).toEqual([]);
  });
});
