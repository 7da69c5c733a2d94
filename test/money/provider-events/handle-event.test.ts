import { describe, expect, it, vi } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { updateStatus } from '../../../src/base/tenants/tenants.sql.ts';
import { unfreeze } from '../../../src/money/payments/top-up-stops.sql.ts';
import { applyMissedEvents } from '../../../src/money/provider-events/event-sweeper.ts';
import { handleEvent } from '../../../src/money/provider-events/handle-event.ts';
import { countLockWaiters } from '../../support/lock-waiters.ts';
import type { TestTenant } from '../../support/service.ts';
import { GOOD_CARD, OTHER_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;

const sweep = () => applyMissedEvents(app.service.deps, app.service.deps.provider!);

async function openCheckout(tenant: TestTenant, cents = 2000): Promise<string> {
  const answer = await app.request('POST', '/v1/billing/checkout', {
    key: tenant.key,
    body: { amount_cents: cents },
  });
  expect(answer.status, answer.text).toBe(200);
  return /cs_test_\w+/.exec(answer.json.checkout_url)![0];
}

/** As in a database that was restored to before the checkout: its payments and their refunds are parked. */
async function forgetCheckout(session: string): Promise<{ remember(): Promise<void> }> {
  const { rows } = await db().query(
    'delete from checkouts where session_id = $1 returning id, tenant_id, amount',
    [session],
  );
  const { id, tenant_id, amount } = rows[0];
  return {
    remember: async () =>
      void (await db().query(
        'insert into checkouts (id, tenant_id, amount, session_id) values ($1, $2, $3, $4)',
        [id, tenant_id, amount, session],
      )),
  };
}

async function checkoutStateOf(session: string): Promise<string> {
  const { rows } = await db().query('select state from checkouts where session_id = $1', [session]);
  return rows[0].state;
}

async function statusOf(tenant: TestTenant): Promise<string> {
  return (await db().query('select status from tenants where id = $1', [kit.idOf(tenant)])).rows[0].status;
}

async function postingsOf(tenant: TestTenant): Promise<{ kind: string; amount: number }[]> {
  const { rows } = await db().query(
    `select kind, amount::float8 from postings where tenant_id = $1 order by seq`,
    [kit.idOf(tenant)],
  );
  return rows;
}

/** Makes the sandbox hold all provider events about money, to release them in a chosen order. */
const HOLD: Fault = { effect: 'reorder', event: '*', count: 99 };

describe('a checkout', () => {
  it('that is paid credits once, activates the tenant and saves the card', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    expect(await statusOf(tenant)).toBe('pending');
    app.sandbox.control.pay(session, { card: GOOD_CARD });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    expect(await statusOf(tenant)).toBe('active');
    expect(await checkoutStateOf(session)).toBe('paid');
    const { tenant: shown, admitted } = await kit.billing(tenant);
    expect(shown).toMatchObject({ status: 'active', has_card: true });
    expect(admitted).toBe(true);
    expect(await postingsOf(tenant)).toEqual([{ kind: 'top_up', amount: 20_000_000 }]);
  });

  it('is counted once, even if its transaction is repeated', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    const before = await kit.countOf('top_up', 'succeeded');
    await kit.failNextCommit('payments');
    app.sandbox.control.pay(session, { card: GOOD_CARD });
    await app.settled();
    expect(await kit.wasRepeated()).toBe(true);
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    expect(await kit.countOf('top_up', 'succeeded')).toBe(before + 1);
  });

  it('paid by a bank debit credits when the debit succeeds, and saves no card', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    const intent = app.sandbox.control.pay(session, { card: 'bank_debit_succeeds' });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    expect(await checkoutStateOf(session)).toBe('processing');
    expect(await statusOf(tenant)).toBe('pending');
    app.sandbox.control.settle(intent.id);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    expect(await checkoutStateOf(session)).toBe('paid');
    expect((await kit.billing(tenant)).tenant).toMatchObject({ status: 'active', has_card: false });
  });

  it('paid by a bank debit that fails credits nothing', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    const intent = app.sandbox.control.pay(session, { card: 'bank_debit_fails' });
    app.sandbox.control.settle(intent.id);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    expect(await checkoutStateOf(session)).toBe('failed');
    expect(await statusOf(tenant)).toBe('pending');
  });

  it('that expires changes nothing but its own state', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    app.sandbox.control.expireCheckout(session);
    await app.settled();
    expect(await checkoutStateOf(session)).toBe('expired');
    expect(await kit.balanceOf(tenant)).toBe(0);
  });

  it('whose first card was declined is credited when a second one pays', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    app.sandbox.control.pay(session, { card: '4000000000009995' });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    app.sandbox.control.pay(session, { card: GOOD_CARD });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    expect(await kit.settingsOf(tenant)).toMatchObject({ last_top_up_error: null });
  });

  it('that a suspended tenant pays adds credit and changes nothing else', async () => {
    const tenant = await app.paidTenant();
    await inTransaction(db(), (tx) =>
      updateStatus(tx, { id: kit.idOf(tenant), status: 'active' }, 'suspended', 'test'),
    );
    await app.pay(tenant, { cents: 1000 });
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
    expect(await statusOf(tenant)).toBe('suspended');
  });

  it('saves the card of the newest payment', async () => {
    const tenant = await app.paidTenant();
    const before = await kit.settingsOf(tenant);
    await app.pay(tenant, { card: OTHER_CARD });
    const after = await kit.settingsOf(tenant);
    expect(after.card_fingerprint).not.toBe(before.card_fingerprint);
    expect(after.customer_id).toBe(before.customer_id);
  });
});

describe('deliveries', () => {
  it.each<[string, Fault[]]>([
    [
      'twenty times at once',
      [
        { effect: 'repeat', times: 20, event: 'checkout.session.completed' },
        { effect: 'repeat', times: 20, event: 'payment_intent.succeeded' },
      ],
    ],
    ['with a wrong signature at first', [{ effect: 'corrupt_signature', event: '*', count: 20 }]],
    ['of the session alone', [{ effect: 'drop', event: 'payment_intent.succeeded' }]],
    ['of the payment alone', [{ effect: 'drop', event: 'checkout.session.completed' }]],
    ['late', [{ effect: 'delay', event: '*', count: 20, ms: 100 }]],
  ])('credit once: %s', async (_, faults) => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    for (const fault of faults) app.sandbox.control.fault(fault);
    app.sandbox.control.pay(session, { card: GOOD_CARD });
    await app.settled();
    expect(await postingsOf(tenant)).toEqual([{ kind: 'top_up', amount: 20_000_000 }]);
  });

  it('that were lost are found by the sweeper, once', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    app.sandbox.control.fault({ effect: 'drop', count: 20 });
    app.sandbox.control.pay(session, { card: GOOD_CARD });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    expect(await sweep()).toBeGreaterThanOrEqual(2);
    expect(await postingsOf(tenant)).toEqual([{ kind: 'top_up', amount: 20_000_000 }]);
    expect(await sweep()).toBe(0);
  });

  it('are looked for seven days back by the first sweep', async () => {
    await db().query('delete from provider_cursor');
    const { stripe } = app;
    const list = vi.spyOn(stripe.events, 'list');
    const sevenDaysAgo = Date.now() / 1000 - 7 * 86_400;
    await applyMissedEvents(app.service.deps, { ...app.service.deps.provider!, stripe });
    const since = list.mock.calls.map(([query]) => (query!.created as { gte: number }).gte);
    list.mockRestore();
    expect(since).toEqual([expect.closeTo(sevenDaysAgo, -2)]);
  });

  it('may be swept by two processes at once', async () => {
    const tenant = await app.paidTenant();
    app.sandbox.control.fault({ effect: 'drop', count: 40 });
    await app.pay(tenant, { cents: 1000 });
    const { payment } = await app.pay(tenant, { cents: 3000 });
    app.sandbox.control.refund(payment, { amount: 500 });
    await Promise.all([sweep(), sweep(), sweep()]);
    expect(await kit.balanceOf(tenant)).toBe(55_000_000);
  });

  it('that fail are swept later, and delay no others', async () => {
    const tenant = await app.paidTenant();
    app.sandbox.control.fault({ effect: 'drop', count: 40 });
    await app.pay(tenant, { cents: 1000 });
    app.sandbox.control.fault({ effect: 'fail_500', method: 'GET', path: '/v1/payment_intents/*', count: 2 });
    await sweep();
    await sweep();
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
  });

  it.each(['created', 'reversed'] as const)(
    'of a whole history leave the same ledger in the order %s',
    async (order) => {
      const tenant = await app.signUp();
      const session = await openCheckout(tenant, 10_000);
      app.sandbox.control.fault(HOLD);
      const { id } = app.sandbox.control.pay(session, { card: GOOD_CARD });
      app.sandbox.control.refund(id, { amount: 1000 });
      const failing = app.sandbox.control.refund(id, { amount: 2000 });
      app.sandbox.control.settleRefund(failing.id, 'failed');
      const dispute = app.sandbox.control.dispute(id, { amount: 4000 });
      app.sandbox.control.winDispute(dispute.id);
      app.sandbox.control.refund(id, { amount: 500 });
      await app.sandbox.control.release(order);
      await app.settled();
      expect(await kit.balanceOf(tenant)).toBe(85_000_000);
      expect(await statusOf(tenant)).toBe('active');
      expect((await kit.settingsOf(tenant)).frozen_by).toEqual([]);
    },
  );

  it('of a whole history at once give the same ledger', async () => {
    for (let time = 0; time < 5; time += 1) {
      const tenant = await app.signUp();
      const session = await openCheckout(tenant, 10_000);
      app.sandbox.control.fault({ effect: 'delay', event: '*', count: 99, ms: 50 });
      const { id } = app.sandbox.control.pay(session, { card: GOOD_CARD });
      app.sandbox.control.refund(id, { amount: 1000 });
      app.sandbox.control.refund(id, { amount: 1000 });
      app.sandbox.control.warnOfFraud(id);
      const dispute = app.sandbox.control.dispute(id, { amount: 4000 });
      app.sandbox.control.loseDispute(dispute.id);
      await app.settled();
      app.sandbox.control.clearFaults();
      expect(await kit.balanceOf(tenant)).toBe(40_000_000);
      expect((await kit.settingsOf(tenant)).frozen_by).toHaveLength(2);
    }
  });
});

describe('a refund', () => {
  it('in three parts takes back each part', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    for (const amount of [500, 1000, 1500]) app.sandbox.control.refund(payment, { amount });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    expect((await postingsOf(tenant)).map(({ kind }) => kind)).toEqual([
      'top_up',
      'refund',
      'refund',
      'refund',
    ]);
    expect((await kit.billing(tenant)).admitted).toBe(false);
  });

  it('may leave a balance below zero', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 1000 });
    await kit.spend(tenant, 800);
    app.sandbox.control.refund(payment);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(-8_000_000);
  });

  it('that fails later gives the credit back', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const refund = app.sandbox.control.refund(payment, { amount: 1000, outcome: 'pending' });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    app.sandbox.control.settleRefund(refund.id, 'failed');
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
  });

  it('of a card that cannot be refunded ends where it began', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000, card: '4000000000005126' });
    app.sandbox.control.refund(payment);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
  });

  it('is booked as a refund even if it is the first event of its payment', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant, 3000);
    app.sandbox.control.fault({ effect: 'drop', event: 'checkout.session.completed' });
    app.sandbox.control.fault({ effect: 'drop', event: 'payment_intent.succeeded' });
    const { id } = app.sandbox.control.pay(session, { card: GOOD_CARD });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    const refund = app.sandbox.control.refund(id, { amount: 1000 });
    await app.settled();
    expect(await postingsOf(tenant)).toEqual([
      { kind: 'top_up', amount: 30_000_000 },
      { kind: 'refund', amount: -10_000_000 },
    ]);
    const { rows } = await db().query(
      `select outcome from provider_events where type = 'refund.created' and outcome = 'parked'`,
    );
    expect(rows).toEqual([]);
    expect((await kit.billing(tenant)).recent[0]).toMatchObject({ kind: 'refund', reference: refund.id });
  });

  it('that arrives while its payment is being settled is not lost', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant, 3000);
    app.sandbox.control.fault(HOLD);
    const { id } = app.sandbox.control.pay(session, { card: GOOD_CARD });
    app.sandbox.control.refund(id, { amount: 1000 });
    app.sandbox.control.clearFaults();
    const held = app.sandbox.control.deliveries().filter(({ status }) => status === 'held');
    const [paid] = held.filter(({ type }) => type === 'payment_intent.succeeded');
    const [refunded] = held.filter(({ type }) => type === 'refund.created');

    // The account is locked, so that the payment is half settled when the refund arrives.
    const other = await db().connect();
    await other.query('begin');
    await other.query('select 1 from payment_settings where tenant_id = $1 for update', [kit.idOf(tenant)]);
    const settling = app.sandbox.control.redeliver(paid!.id);
    const waiting = () => countLockWaiters(db());
    await expect.poll(waiting).toBe(1);
    const refunding = app.sandbox.control.redeliver(refunded!.id);
    await expect
      .poll(async () => (await waiting()) === 2 || (await kit.outcomeOf(refunded!.event)) !== undefined)
      .toBe(true);
    await other.query('commit');
    other.release();
    await Promise.all([settling, refunding]);
    await app.sandbox.control.release();
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
  });

  it('that the provider does not know takes nothing back, though its event is signed', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const refund = { object: 'refund', amount: 1000, status: 'succeeded', payment_intent: payment };
    const answer = await kit.deliver({
      id: 'evt_invented_refund',
      type: 'refund.created',
      data: { object: { ...refund, id: 're_invented' } },
    });
    expect(answer.status).toBe(200);
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
    expect(await kit.outcomeOf('evt_invented_refund')).toEqual({
      outcome: 'parked',
      reason: 'refund re_invented is not there at the provider',
    });
  });

  it('counts with the amount and the payment that the provider names, not with those of the event', async () => {
    const [one, other] = [await app.signUp(), await app.signUp()];
    const { payment } = await app.pay(one, { cents: 3000 });
    const { payment: another } = await app.pay(other, { cents: 3000 });
    app.sandbox.control.fault({ effect: 'drop', event: 'refund.created' });
    const refund = app.sandbox.control.refund(payment, { amount: 500 });
    const forged = { ...refund, amount: 2000, payment_intent: another };
    await kit.deliver({ id: 'evt_forged_refund', type: 'refund.created', data: { object: forged } });
    expect(await kit.balanceOf(one)).toBe(25_000_000);
    expect(await kit.balanceOf(other)).toBe(30_000_000);
  });

  it('that cannot be looked up changes nothing until the event comes again', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    app.sandbox.control.fault({ effect: 'drop', event: 'refund.created' });
    const refund = app.sandbox.control.refund(payment, { amount: 500 });
    const event = { id: 'evt_of_an_outage', type: 'refund.created', data: { object: refund } };
    app.sandbox.control.fault({ effect: 'fail_500', method: 'GET', path: '/v1/refunds/*' });
    expect((await kit.deliver(event)).status).toBe(500);
    expect(await kit.outcomeOf(event.id)).toBeUndefined();
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
    expect((await kit.deliver(event)).status).toBe(200);
    expect(await kit.balanceOf(tenant)).toBe(25_000_000);
  });

  it.each([
    ['requires_action', 'succeeded'],
    ['pending', 'succeeded'],
    ['succeeded', 'failed'],
  ] as const)('is not changed by a late event of when it was %s, before it had %s', async (before, after) => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const early = app.sandbox.control.refund(payment, { amount: 1000, outcome: before });
    app.sandbox.control.settleRefund(early.id, after);
    await app.settled();
    const balance = after === 'failed' ? 30_000_000 : 20_000_000;
    expect(await kit.balanceOf(tenant)).toBe(balance);
    const late = { id: `evt_late_${before}`, type: 'refund.updated', data: { object: early } };
    expect((await kit.deliver(late)).status).toBe(200);
    expect(await kit.balanceOf(tenant)).toBe(balance);
  });

  it('is not changed by an answer of the provider that a newer one has overtaken', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const early = app.sandbox.control.refund(payment, { amount: 1000, outcome: 'requires_action' });
    app.sandbox.control.settleRefund(early.id, 'succeeded');
    await app.settled();
    const { stripe } = app;
    const retrieve = vi.spyOn(stripe.refunds, 'retrieve').mockResolvedValueOnce(early as never);
    const event = { id: 'evt_overtaken', type: 'refund.updated', livemode: false, data: { object: early } };
    await handleEvent(app.service.deps, { ...app.service.deps.provider!, stripe }, event as never);
    expect(retrieve).toHaveBeenCalledOnce();
    retrieve.mockRestore();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
  });

  it('and disputes never take back more than was credited', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    app.sandbox.control.refund(payment, { amount: 2000 });
    app.sandbox.control.dispute(payment, { amount: 3000 });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    const { rows } = await db().query('select credited - reversed as net from payments where id = $1', [
      payment,
    ]);
    expect(rows[0].net).toBe(0n);
  });
});

describe('a dispute', () => {
  it('takes credit back when funds are withdrawn, and freezes automatic top-ups', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const dispute = app.sandbox.control.dispute(payment);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(10_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([dispute.id]);
    await kit.spend(tenant, 900);
    expect(await kit.attemptsOf(tenant)).toEqual([]);
  });

  it('that is won gives the credit back', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const dispute = app.sandbox.control.dispute(payment);
    app.sandbox.control.winDispute(dispute.id);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(40_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([]);
    app.sandbox.control.refund(payment, { amount: 1000 });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
    await kit.setTopUp(tenant, { enabled: true, below_cents: 500, amount_cents: 2000 });
    await kit.spend(tenant, 1500);
    await kit.spend(tenant, 1100);
    expect(await kit.finished(tenant)).toMatchObject({ state: 'succeeded' });
  });

  it('that the provider does not know takes nothing back and freezes nothing, though its event is signed', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const dispute = { object: 'dispute', amount: 3000, status: 'needs_response', payment_intent: payment };
    for (const type of ['charge.dispute.created', 'charge.dispute.funds_withdrawn']) {
      const event = { id: `evt_${type}`, type, data: { object: { ...dispute, id: 'du_invented' } } };
      expect((await kit.deliver(event)).status).toBe(200);
      expect(await kit.outcomeOf(event.id)).toEqual({
        outcome: 'parked',
        reason: 'dispute du_invented is not there at the provider',
      });
    }
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([]);
  });

  it('cannot be reinstated by an invented event', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const dispute = app.sandbox.control.dispute(payment);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    for (const type of ['charge.dispute.funds_reinstated', 'charge.dispute.closed']) {
      const object = { ...dispute, status: 'won' };
      expect((await kit.deliver({ id: `evt_invented_${type}`, type, data: { object } })).status).toBe(200);
    }
    expect(await kit.balanceOf(tenant)).toBe(0);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([dispute.id]);
  });

  it('that is won in part gives that part back', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const dispute = app.sandbox.control.dispute(payment);
    app.sandbox.control.winDispute(dispute.id, { amount: 700 });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(17_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([]);
  });

  it.each([
    { refunded: 500, withdrawn: 3000, reinstated: 500, net: 3000 },
    { refunded: 500, withdrawn: 2000, reinstated: 700, net: 1800 },
    { refunded: 3000, withdrawn: 3000, reinstated: 3000, net: 3000 },
    { refunded: 3000, withdrawn: 3000, reinstated: 1000, net: 3000 },
  ])('and a refund take back %o, whatever the order of events', async (part) => {
    for (const order of ['created', 'reversed'] as const) {
      const tenant = await app.signUp();
      const session = await openCheckout(tenant, 3000);
      app.sandbox.control.fault(HOLD);
      const { id } = app.sandbox.control.pay(session, { card: GOOD_CARD });
      app.sandbox.control.refund(id, { amount: part.refunded });
      const dispute = app.sandbox.control.dispute(id, { amount: part.withdrawn });
      app.sandbox.control.winDispute(dispute.id, { amount: part.reinstated });
      await app.sandbox.control.release(order);
      await app.settled();
      app.sandbox.control.clearFaults();
      expect(await kit.balanceOf(tenant)).toBe((3000 - part.net) * 10_000);
    }
  });

  it('that is won on appeal gives the credit back and ends the freeze', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const { id } = app.sandbox.control.dispute(payment);
    app.sandbox.control.loseDispute(id);
    await app.settled();
    app.sandbox.control.appealDispute(id);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(10_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([id]);
    app.sandbox.control.winDispute(id);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(40_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([]);
  });

  it('that is won on appeal and was closed no second time ends the freeze', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const { id } = app.sandbox.control.dispute(payment);
    app.sandbox.control.loseDispute(id);
    app.sandbox.control.appealDispute(id);
    await app.settled();
    app.sandbox.control.fault({ effect: 'drop', event: 'charge.dispute.closed' });
    app.sandbox.control.winDispute(id);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(40_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([]);
  });

  it('that is lost again on appeal keeps the freeze', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const { id } = app.sandbox.control.dispute(payment);
    app.sandbox.control.loseDispute(id);
    app.sandbox.control.appealDispute(id);
    app.sandbox.control.loseDispute(id);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(10_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([id]);
  });

  it('freezes no second time after an operator has ended the freeze, unless it is lost', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const dispute = app.sandbox.control.dispute(payment);
    await app.settled();
    await inTransaction(db(), (tx) => unfreeze(tx, kit.idOf(tenant), 'all'));
    await kit.deliver({ id: 'evt_again', type: 'charge.dispute.created', data: { object: dispute } });
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([]);
    app.sandbox.control.loseDispute(dispute.id);
    await app.settled();
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([dispute.id]);
  });

  it('is not changed by an answer of the provider that a newer one has overtaken', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const early = app.sandbox.control.dispute(payment);
    app.sandbox.control.winDispute(early.id);
    await app.settled();
    const { stripe } = app;
    const retrieve = vi.spyOn(stripe.disputes, 'retrieve').mockResolvedValueOnce(early as never);
    const event = { id: 'evt_old', type: 'charge.dispute.created', livemode: false, data: { object: early } };
    await handleEvent(app.service.deps, { ...app.service.deps.provider!, stripe }, event as never);
    expect(retrieve).toHaveBeenCalledOnce();
    retrieve.mockRestore();
    expect(await kit.balanceOf(tenant)).toBe(40_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([]);
  });

  it('that is lost keeps the freeze', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const dispute = app.sandbox.control.dispute(payment, { amount: 1000 });
    app.sandbox.control.loseDispute(dispute.id);
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(30_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([dispute.id]);
  });

  it('that is only an inquiry moves no money, and freezes until it is closed', async () => {
    const tenant = await kit.toppedUp();
    const { payment } = await app.pay(tenant, { cents: 3000 });
    const dispute = app.sandbox.control.dispute(payment, { inquiry: true });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(40_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([dispute.id]);
    app.sandbox.control.winDispute(dispute.id);
    await app.settled();
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([]);
  });

  it('that is over keeps the freeze of another dispute', async () => {
    const tenant = await kit.toppedUp();
    const first = await app.pay(tenant, { cents: 3000 });
    const second = await app.pay(tenant, { cents: 3000 });
    const one = app.sandbox.control.dispute(first.payment);
    const other = app.sandbox.control.dispute(second.payment);
    app.sandbox.control.winDispute(one.id);
    await app.settled();
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([other.id]);
  });

  it('that arrives with the payment freezes the tenant', async () => {
    const tenant = await app.signUp();
    await app.pay(tenant, { cents: 3000, card: '4000000000000259' });
    expect(await kit.balanceOf(tenant)).toBe(0);
    expect((await kit.settingsOf(tenant)).frozen_by).toHaveLength(1);
  });

  it('that is the first event of its payment is booked as a dispute, and freezes', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant, 3000);
    app.sandbox.control.fault({ effect: 'drop', event: 'checkout.session.completed' });
    app.sandbox.control.fault({ effect: 'drop', event: 'payment_intent.succeeded' });
    const { id } = app.sandbox.control.pay(session, { card: GOOD_CARD });
    const dispute = app.sandbox.control.dispute(id, { amount: 1000 });
    await app.settled();
    expect(await postingsOf(tenant)).toEqual([
      { kind: 'top_up', amount: 30_000_000 },
      { kind: 'dispute', amount: -10_000_000 },
    ]);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual([dispute.id]);
  });

  it.each([
    ['warning_closed', false],
    ['won', false],
    ['lost', true],
  ])('that was closed as %s before its payment was settled: frozen is %s', async (status, isFrozen) => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    const forgotten = await forgetCheckout(session);
    const { id } = app.sandbox.control.pay(session, { card: GOOD_CARD });
    const dispute = app.sandbox.control.dispute(id, { inquiry: status === 'warning_closed' });
    const decide = status === 'lost' ? 'loseDispute' : 'winDispute';
    expect(app.sandbox.control[decide](dispute.id)).toMatchObject({ status });
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(0);
    await forgotten.remember();
    const object = { id, object: 'payment_intent', status: 'succeeded', metadata: {} };
    await kit.deliver({ id: `evt_again_${status}`, type: 'payment_intent.succeeded', data: { object } });
    expect(await kit.balanceOf(tenant)).toBe(status === 'lost' ? 0 : 20_000_000);
    expect((await kit.settingsOf(tenant)).frozen_by).toEqual(isFrozen ? [dispute.id] : []);
  });
});

it('an early fraud warning freezes automatic top-ups and moves no money', async () => {
  const tenant = await kit.toppedUp();
  const { payment } = await app.pay(tenant, { cents: 3000 });
  const warning = app.sandbox.control.warnOfFraud(payment);
  await app.settled();
  expect(await kit.balanceOf(tenant)).toBe(40_000_000);
  expect((await kit.settingsOf(tenant)).frozen_by).toEqual([warning.id]);
});

it('a late event of before an automatic top-up succeeded takes no credit back', async () => {
  const tenant = await kit.toppedUp();
  await kit.spend(tenant, 600);
  await kit.finished(tenant);
  await app.settled();
  const [intent] = await kit.topUpIntents(tenant);
  for (const type of ['payment_intent.requires_action', 'payment_intent.payment_failed']) {
    const object = { ...intent, status: 'requires_action' };
    expect((await kit.deliver({ id: `evt_late_${type}`, type, data: { object } })).status).toBe(200);
  }
  expect(await kit.balanceOf(tenant)).toBe(24_000_000);
  expect((await kit.attemptsOf(tenant)).map(({ state }) => state)).toEqual(['succeeded']);
  expect(await kit.settingsOf(tenant)).toMatchObject({ last_top_up_error: null, paused_hours: null });
});

describe('a card or a customer', () => {
  it('that is detached is no longer the saved card', async () => {
    const tenant = await kit.toppedUp();
    app.sandbox.control.detachCard((await kit.settingsOf(tenant)).payment_method_id!);
    await app.settled();
    expect((await kit.billing(tenant)).tenant.has_card).toBe(false);
    await kit.spend(tenant, 900);
    expect(await kit.attemptsOf(tenant)).toEqual([]);
  });

  it('that is detached before the event of its payment is never saved', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    app.sandbox.control.fault(HOLD);
    const { payment_method } = app.sandbox.control.pay(session, { card: GOOD_CARD });
    app.sandbox.control.detachCard(payment_method!);
    await app.sandbox.control.release('reversed');
    await app.settled();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    expect(await kit.settingsOf(tenant)).toMatchObject({ payment_method_id: null, card_fingerprint: null });
  });

  it('that is detached and was not the saved one changes nothing', async () => {
    const tenant = await kit.toppedUp();
    const { payment_method_id } = await kit.settingsOf(tenant);
    await app.pay(tenant, { cents: 1000, card: OTHER_CARD });
    app.sandbox.control.detachCard(payment_method_id!);
    await app.settled();
    expect((await kit.billing(tenant)).tenant.has_card).toBe(true);
  });

  it.each([
    ['with an event', false],
    ['without an event', true],
  ])('that is deleted %s is replaced at the next checkout', async (_, isDropped) => {
    const tenant = await kit.toppedUp();
    const { customer_id } = await kit.settingsOf(tenant);
    if (isDropped) app.sandbox.control.fault({ effect: 'drop', event: '*', count: 9 });
    app.sandbox.control.deleteCustomer(customer_id!);
    await app.settled();
    app.sandbox.control.clearFaults();
    await app.pay(tenant, { cents: 1000 });
    const settings = await kit.settingsOf(tenant);
    expect(settings.customer_id).not.toBe(customer_id);
    expect(settings.payment_method_id).not.toBeNull();
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
  });
});

describe('a provider event', () => {
  async function outcomesOf(payment: string): Promise<string[]> {
    const outcomes: string[] = [];
    const { data } = await app.stripe.events.list({ type: 'payment_intent.succeeded', limit: 20 });
    for (const event of data) {
      if ((event.data.object as { id: string }).id === payment)
        outcomes.push((await kit.outcomeOf(event.id))?.outcome ?? 'none');
    }
    return outcomes;
  }

  const UNKNOWN = `co_${'0'.repeat(31)}x`;

  it('of a payment that is not ours is parked', async () => {
    expect(await outcomesOf(await kit.payDirectly({}))).toEqual(['parked']);
  });

  it('of a payment for an unknown checkout is parked', async () => {
    const tenant = await app.signUp();
    expect(await outcomesOf(await kit.payDirectly({ tenant: tenant.id, checkout: UNKNOWN }))).toEqual([
      'parked',
    ]);
    expect(await kit.balanceOf(tenant)).toBe(0);
  });

  it("of a payment that names one tenant and another's checkout is parked", async () => {
    const [one, other] = [await app.signUp(), await app.signUp()];
    await openCheckout(one);
    const { rows } = await db().query('select id from checkouts where tenant_id = $1', [kit.idOf(one)]);
    const payment = await kit.payDirectly({ tenant: other.id, checkout: rows[0].id });
    expect(await outcomesOf(payment)).toEqual(['parked']);
    expect(await kit.balanceOf(one)).toBe(0);
    expect(await kit.balanceOf(other)).toBe(0);
    kit.expectUncredited(payment);
  });

  it('of a payment in another currency is parked', async () => {
    const tenant = await app.signUp();
    await openCheckout(tenant);
    const { rows } = await db().query('select id from checkouts where tenant_id = $1', [kit.idOf(tenant)]);
    const payment = await kit.payDirectly({ tenant: tenant.id, checkout: rows[0].id }, { currency: 'eur' });
    expect(await outcomesOf(payment)).toEqual(['parked']);
    expect(await kit.balanceOf(tenant)).toBe(0);
  });

  it('of a second payment for one automatic top-up is parked', async () => {
    const tenant = await kit.toppedUp();
    await kit.spend(tenant, 600);
    const { id } = await kit.finished(tenant);
    const payment = await kit.payDirectly({ tenant: tenant.id, attempt: id });
    expect(await outcomesOf(payment)).toEqual(['parked']);
    expect(await kit.balanceOf(tenant)).toBe(24_000_000);
    kit.expectUncredited(payment);
  });

  it('of live mode is parked if our key is for test mode', async () => {
    const tenant = await app.signUp();
    const { payment } = await app.pay(tenant, { cents: 1000 });
    const refund = {
      id: 're_live',
      object: 'refund',
      amount: 1000,
      status: 'succeeded',
      payment_intent: payment,
    };
    const answer = await kit.deliver({
      id: 'evt_live',
      type: 'refund.created',
      livemode: true,
      data: { object: refund },
    });
    expect(answer.status).toBe(200);
    expect((await kit.outcomeOf('evt_live'))?.outcome).toBe('parked');
    expect(await kit.balanceOf(tenant)).toBe(10_000_000);
  });

  it('about an object that is unknown to the provider or not ours is answered with 200', async () => {
    const objects: [string, Record<string, unknown>][] = [
      [
        'payment_intent.succeeded',
        { id: 'pi_unknown', object: 'payment_intent', status: 'succeeded', metadata: {} },
      ],
      [
        'refund.created',
        {
          id: 're_unknown',
          object: 'refund',
          amount: 100,
          status: 'succeeded',
          payment_intent: 'pi_unknown',
        },
      ],
      [
        'refund.created',
        { id: 're_unknown', object: 'refund', amount: 100, status: 'succeeded', payment_intent: null },
      ],
      [
        'charge.dispute.created',
        {
          id: 'du_unknown',
          object: 'dispute',
          amount: 100,
          payment_intent: 'pi_unknown',
          status: 'needs_response',
        },
      ],
      [
        'radar.early_fraud_warning.created',
        { id: 'issfr_unknown', object: 'radar.early_fraud_warning', payment_intent: 'pi_unknown' },
      ],
      [
        'payment_intent.payment_failed',
        { id: 'pi_other', object: 'payment_intent', status: 'requires_payment_method', metadata: {} },
      ],
      ['checkout.session.expired', { id: 'cs_other', object: 'checkout.session', metadata: {} }],
      ['customer.deleted', { id: 'cus_other', object: 'customer' }],
      ['payment_method.detached', { id: 'pm_other', object: 'payment_method' }],
      ['invoice.paid', { id: 'in_other', object: 'invoice' }],
    ];
    for (const [index, [type, object]] of objects.entries()) {
      const answer = await kit.deliver({ id: `evt_foreign_${index}`, type, data: { object } });
      expect([type, answer.status]).toEqual([type, 200]);
      expect(await kit.outcomeOf(`evt_foreign_${index}`)).toBeDefined();
    }
  });

  it('needs a recent signature over its exact bytes with our secret', async () => {
    const event = {
      id: 'evt_forged',
      type: 'customer.deleted',
      data: { object: { id: 'cus_x', object: 'customer' } },
    };
    const refused = async (answer: Promise<{ status: number }>) => expect((await answer).status).toBe(400);
    await refused(kit.deliver(event, { key: 'whsec_of_somebody_else' }));
    await refused(kit.deliver(event, { at: Date.now() - 301_000 }));
    const raw = JSON.stringify(event, null, 2);
    const header = app.stripe.webhooks.generateTestHeaderString({ payload: raw, secret: kit.secret() });
    await refused(
      app.request('POST', '/v1/stripe/webhook', {
        raw: JSON.stringify(event),
        headers: { 'stripe-signature': header },
      }),
    );
    await refused(app.request('POST', '/v1/stripe/webhook', { raw }));
    expect(await kit.outcomeOf('evt_forged')).toBeUndefined();
    const answer = await app.request('POST', '/v1/stripe/webhook', {
      raw,
      headers: { 'stripe-signature': header },
    });
    expect(answer.status).toBe(200);
  });

  it('may be signed with either of two secrets during a rotation', async () => {
    const secrets = app.service.deps.provider!.webhookSecrets as string[];
    secrets.unshift('whsec_the_new_one');
    try {
      for (const [index, key] of secrets.entries()) {
        const object = { id: 'cus_y', object: 'customer' };
        const answer = await kit.deliver(
          { id: `evt_rollover_${index}`, type: 'customer.deleted', data: { object } },
          { key },
        );
        expect(answer.status).toBe(200);
      }
    } finally {
      secrets.shift();
    }
  });
});
