/** The events `payment_disputed` and `payment_dispute_closed`, from the provider to the log. */
import { describe, expect, test } from 'vitest';
import { emptyLog, eventsOf } from '../../support/events.ts';
import type { TestTenant } from '../../support/service.ts';
import { GOOD_CARD, usePayments } from '../payments/support.ts';

const kit = usePayments();
const { app, db } = kit;

/** What was told of disputes. */
async function told(tenant: TestTenant): Promise<[string, unknown][]> {
  const events = await eventsOf(db(), kit.idOf(tenant));
  return events
    .filter(({ type }) => type.startsWith('payment_dispute'))
    .map(({ type, subject }) => [type, subject]);
}

const outcomes = async (tenant: TestTenant) =>
  (await told(tenant)).map(([type, subject]) => (subject as { outcome?: string }).outcome ?? type);

async function paid(cents = 3000): Promise<{ tenant: TestTenant; payment: string }> {
  const tenant = await app.signUp();
  const { payment } = await app.pay(tenant, { cents });
  return { tenant, payment };
}

async function openCheckout(tenant: TestTenant): Promise<string> {
  const answer = await app.request('POST', '/v1/billing/checkout', {
    key: tenant.key,
    body: { amount_cents: 2000 },
  });
  return /cs_test_\w+/.exec(answer.json.checkout_url)![0];
}

describe('a dispute', () => {
  test('is told once, with what is disputed and why, although the provider reports it twice', async () => {
    const { tenant, payment } = await paid();
    const dispute = app.sandbox.control.dispute(payment, { amount: 1200, reason: 'duplicate' });
    await app.settled();
    expect(await told(tenant)).toStrictEqual([
      [
        'payment_disputed',
        {
          paymentId: payment,
          kind: 'dispute',
          reference: dispute.id,
          amount: '12000000',
          reason: 'duplicate',
        },
      ],
    ]);
  });

  test('that moves no money is an inquiry', async () => {
    const { tenant, payment } = await paid();
    const { id } = app.sandbox.control.dispute(payment, { inquiry: true });
    app.sandbox.control.winDispute(id);
    await app.settled();
    expect(await told(tenant)).toMatchObject([
      ['payment_disputed', { kind: 'inquiry', reference: id }],
      ['payment_dispute_closed', { paymentId: payment, reference: id, outcome: 'closed' }],
    ]);
    const events = await eventsOf(db(), kit.idOf(tenant));
    expect(events.map(({ type }) => type)).not.toContain('payment_reversed');
  });

  test('that is lost, appealed and won is told of both decisions', async () => {
    const { tenant, payment } = await paid();
    const { id } = app.sandbox.control.dispute(payment);
    app.sandbox.control.loseDispute(id);
    await app.settled();
    expect(await outcomes(tenant)).toEqual(['payment_disputed', 'lost']);
    app.sandbox.control.appealDispute(id);
    app.sandbox.control.winDispute(id);
    await app.settled();
    expect(await outcomes(tenant)).toEqual(['payment_disputed', 'lost', 'won']);
  });

  test.each(['created', 'reversed'] as const)(
    'is told before its end, if the events come in the order %s',
    async (order) => {
      const { tenant, payment } = await paid();
      app.sandbox.control.fault({ effect: 'reorder', event: '*', count: 99 });
      const { id } = app.sandbox.control.dispute(payment);
      app.sandbox.control.winDispute(id);
      await app.sandbox.control.release(order);
      await app.settled();
      expect(await outcomes(tenant)).toEqual(['payment_disputed', 'won']);
    },
  );

  test('is told once, if its events come ten times at once, to several processes', async () => {
    const { url } = await app.another();
    await app.stripe.webhookEndpoints.create({ url: `${url}/v1/stripe/webhook`, enabled_events: ['*'] });
    const { tenant, payment } = await paid();
    app.sandbox.control.fault({ effect: 'repeat', times: 10, event: 'charge.dispute.created' });
    app.sandbox.control.fault({ effect: 'repeat', times: 10, event: 'charge.dispute.funds_withdrawn' });
    app.sandbox.control.dispute(payment);
    await app.settled();
    expect(await outcomes(tenant)).toEqual(['payment_disputed']);
  });

  test('that comes before its payment is told with the payment', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    app.sandbox.control.fault({ effect: 'drop', event: 'checkout.session.completed' });
    app.sandbox.control.fault({ effect: 'drop', event: 'payment_intent.succeeded' });
    const { id } = app.sandbox.control.pay(session, { card: GOOD_CARD });
    app.sandbox.control.dispute(id);
    await app.settled();
    const types = (await eventsOf(db(), kit.idOf(tenant))).map(({ type }) => type);
    expect(types.filter((type) => /top_up|dispute/.test(type))).toEqual([
      'top_up_succeeded',
      'payment_disputed',
    ]);
  });

  test('that another transaction holds does not hold up its payment, and is told by that one', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    app.sandbox.control.fault({ effect: 'reorder', event: '*', count: 99 });
    const { id: payment } = app.sandbox.control.pay(session, { card: GOOD_CARD });
    const dispute = app.sandbox.control.dispute(payment);
    await db().query(`insert into disputes (id, payment_id, amount) values ($1, $2, 20000000)`, [
      dispute.id,
      payment,
    ]);
    const held = app.sandbox.control.deliveries().filter(({ status }) => status === 'held');
    const paid = held.find(({ type }) => type === 'payment_intent.succeeded')!;

    // As the transaction of an event about the dispute, which waits for the account next.
    const other = await db().connect();
    await other.query('begin');
    await other.query('select from disputes where id = $1 for no key update', [dispute.id]);
    await app.sandbox.control.redeliver(paid.id);
    expect(await kit.balanceOf(tenant)).toBe(20_000_000);
    expect(await told(tenant)).toEqual([]);
    await other.query('rollback');
    other.release();

    await app.sandbox.control.release('created');
    await app.settled();
    expect(await told(tenant)).toMatchObject([['payment_disputed', { reference: dispute.id }]]);
  });

  test('of a payment that was parked is told when the payment is credited', async () => {
    const tenant = await app.signUp();
    const session = await openCheckout(tenant);
    const { rows } = await db().query(
      'delete from checkouts where session_id = $1 returning id, tenant_id, amount',
      [session],
    );
    const { id: payment } = app.sandbox.control.pay(session, { card: GOOD_CARD });
    const { id } = app.sandbox.control.dispute(payment);
    await app.settled();
    expect(await told(tenant)).toEqual([]);
    await db().query('insert into checkouts (id, tenant_id, amount, session_id) values ($1, $2, $3, $4)', [
      rows[0].id,
      rows[0].tenant_id,
      rows[0].amount,
      session,
    ]);
    const late = { object: 'payment_intent', id: payment, status: 'succeeded', metadata: {} };
    await kit.deliver({
      id: `evt_late_${payment}`,
      type: 'payment_intent.succeeded',
      data: { object: late },
    });
    expect(await told(tenant)).toMatchObject([['payment_disputed', { reference: id, reason: 'fraudulent' }]]);
  });

  test('is told once, if the transaction of its event is repeated', async () => {
    const { tenant, payment } = await paid();
    await kit.failNextCommit('payments', 'new.reversed > 0');
    app.sandbox.control.dispute(payment);
    await app.settled();
    expect(await kit.wasRepeated()).toBe(true);
    expect(await outcomes(tenant)).toEqual(['payment_disputed']);
  });

  test('from before this version is not told again', async () => {
    const { tenant, payment } = await paid();
    const { id } = app.sandbox.control.dispute(payment);
    await app.settled();
    await emptyLog(db(), kit.idOf(tenant));
    await db().query('update disputes set reason = null where id = $1', [id]);
    app.sandbox.control.loseDispute(id);
    await app.settled();
    expect(await outcomes(tenant)).toEqual(['lost']);
  });
});

test('an early fraud warning is told once, with the whole payment and the kind of fraud', async () => {
  const { tenant, payment } = await paid();
  app.sandbox.control.fault({ effect: 'repeat', times: 3, event: 'radar.early_fraud_warning.created' });
  const warning = app.sandbox.control.warnOfFraud(payment);
  await app.settled();
  expect(await told(tenant)).toStrictEqual([
    [
      'payment_disputed',
      {
        paymentId: payment,
        kind: 'fraud_warning',
        reference: warning.id,
        amount: '30000000',
        reason: warning.fraud_type,
      },
    ],
  ]);
});
