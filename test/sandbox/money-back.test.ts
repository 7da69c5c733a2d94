import type Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { chargeSaved, clientOf, failureOf, start } from './support.ts';

let sandbox: Sandbox;
let stripe: Stripe;
let intent: Stripe.PaymentIntent;

beforeAll(async () => {
  sandbox = await start();
  stripe = clientOf(sandbox);
});
beforeEach(async () => {
  const { id } = await stripe.customers.create({});
  const method = sandbox.control.saveCard(id, '4242424242424242').id;
  intent = await stripe.paymentIntents.create(chargeSaved(id, method, 2000));
});
afterAll(() => sandbox.close());

const chargeNow = () => stripe.charges.retrieve(String(intent.latest_charge), { expand: ['refunds'] });

/** The events about this payment since it was created, oldest first. */
const eventsSince = async () => {
  const events = await stripe.events.list({ limit: 100 });
  const paid = events.data.findIndex(({ type }) => type === 'payment_intent.succeeded');
  return events.data
    .slice(0, paid)
    .map(({ type }) => type)
    .reverse();
};

describe('refunds', () => {
  test('in parts, and never more than was paid', async () => {
    const first = await stripe.refunds.create({ payment_intent: intent.id, amount: 500 });
    expect(first).toMatchObject({ status: 'succeeded', amount: 500, payment_intent: intent.id });
    expect(await chargeNow()).toMatchObject({ amount_refunded: 500, refunded: false });
    const error = await failureOf(stripe.refunds.create({ payment_intent: intent.id, amount: 1501 }));
    expect(error).toMatchObject({ statusCode: 400, param: 'amount' });
    await stripe.refunds.create({ charge: String(intent.latest_charge), reason: 'requested_by_customer' });
    const charge = await chargeNow();
    expect(charge).toMatchObject({ amount_refunded: 2000, refunded: true });
    expect(charge.refunds?.data.map(({ amount }) => amount)).toEqual([1500, 500]);
    expect(await failureOf(stripe.refunds.create({ payment_intent: intent.id }))).toMatchObject({
      code: 'charge_already_refunded',
    });
    expect((await stripe.refunds.list({ payment_intent: intent.id })).data).toHaveLength(2);
    expect((await stripe.refunds.retrieve(first.id)).id).toBe(first.id);
    expect(await eventsSince()).toEqual([
      'charge.refunded',
      'refund.created',
      'charge.refunded',
      'refund.created',
    ]);
  });

  test('that fail give the amount back to the charge', async () => {
    const refund = sandbox.control.refund(intent.id, { amount: 700, outcome: 'failed' });
    expect(refund).toMatchObject({ status: 'failed', failure_reason: 'expired_or_canceled_card' });
    expect(await chargeNow()).toMatchObject({ amount_refunded: 0 });
    expect(await eventsSince()).toEqual([
      'charge.refunded',
      'refund.created',
      'refund.updated',
      'refund.failed',
    ]);
  });

  test('that are pending succeed, or fail even after success', async () => {
    const refund = sandbox.control.refund(intent.id, { outcome: 'pending' });
    expect(refund).toMatchObject({ status: 'pending', amount: 2000 });
    expect(sandbox.control.settleRefund(refund.id, 'succeeded').status).toBe('succeeded');
    expect(sandbox.control.settleRefund(refund.id, 'failed').status).toBe('failed');
    expect(() => sandbox.control.settleRefund(refund.id, 'succeeded')).toThrow(/failed already/);
    expect(await chargeNow()).toMatchObject({ amount_refunded: 0 });
  });

  test('that wait for the customer succeed later', async () => {
    const refund = sandbox.control.refund(intent.id, { outcome: 'requires_action' });
    expect(refund.status).toBe('requires_action');
    expect(sandbox.control.settleRefund(refund.id, 'succeeded').status).toBe('succeeded');
  });

  test('need a payment', async () => {
    expect((await failureOf(stripe.refunds.create({ amount: 100 }))).statusCode).toBe(400);
    const unpaid = await stripe.paymentIntents.create({ amount: 500, currency: 'usd' });
    expect((await failureOf(stripe.refunds.create({ payment_intent: unpaid.id }))).statusCode).toBe(400);
  });
});

describe('disputes', () => {
  test('take the money and a fee, and a won one brings the money back', async () => {
    const dispute = sandbox.control.dispute(intent.id, { amount: 1200, reason: 'product_not_received' });
    expect(dispute).toMatchObject({
      status: 'needs_response',
      amount: 1200,
      payment_intent: intent.id,
      balance_transactions: [{ amount: -1200, fee: 1500, net: -2700 }],
    });
    expect(await chargeNow()).toMatchObject({ disputed: true });
    expect(await failureOf(stripe.refunds.create({ payment_intent: intent.id }))).toMatchObject({
      code: 'charge_disputed',
    });
    const won = sandbox.control.winDispute(dispute.id);
    expect(won).toMatchObject({
      status: 'won',
      balance_transactions: [{ amount: -1200 }, { amount: 1200, fee: 0 }],
    });
    expect(await eventsSince()).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.funds_reinstated',
      'charge.dispute.closed',
    ]);
    expect(await stripe.disputes.retrieve(dispute.id)).toMatchObject({ status: 'won' });
    expect((await stripe.refunds.create({ payment_intent: intent.id, amount: 800 })).status).toBe(
      'succeeded',
    );
  });

  test('are lost by a decision or by accepting them', async () => {
    const dispute = sandbox.control.dispute(intent.id);
    expect(await stripe.disputes.close(dispute.id)).toMatchObject({ status: 'lost' });
    expect((await failureOf(stripe.disputes.close(dispute.id))).statusCode).toBe(400);
    expect(() => sandbox.control.winDispute(dispute.id)).toThrow(/closed already/);
    expect(await eventsSince()).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.closed',
    ]);
  });

  test('that are only inquiries move no money', async () => {
    const inquiry = sandbox.control.dispute(intent.id, { inquiry: true });
    expect(inquiry).toMatchObject({ status: 'warning_needs_response', balance_transactions: [] });
    expect(sandbox.control.winDispute(inquiry.id)).toMatchObject({ status: 'warning_closed' });
    expect(await eventsSince()).toEqual(['charge.dispute.created', 'charge.dispute.closed']);
  });

  test('that start as an inquiry take the money when lost', async () => {
    const inquiry = sandbox.control.dispute(intent.id, { inquiry: true });
    expect(sandbox.control.loseDispute(inquiry.id)).toMatchObject({
      status: 'lost',
      balance_transactions: [{ amount: -2000 }],
    });
    expect(await eventsSince()).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.closed',
    ]);
  });

  test('that are won in part bring back that part', async () => {
    const { id } = sandbox.control.dispute(intent.id);
    expect(() => sandbox.control.winDispute(id, { amount: 2001 })).toThrow(/At most the disputed amount/);
    expect(sandbox.control.winDispute(id, { amount: 700 })).toMatchObject({
      status: 'won',
      balance_transactions: [{ amount: -2000 }, { amount: 700 }],
    });
  });

  test('that are lost may be won, or lost again, on appeal', async () => {
    const { id } = sandbox.control.dispute(intent.id);
    expect(() => sandbox.control.appealDispute(id)).toThrow(/Only a dispute that was lost/);
    for (const _ of [1, 2]) {
      sandbox.control.loseDispute(id);
      expect(sandbox.control.appealDispute(id)).toMatchObject({ status: 'appeal_under_review' });
    }
    expect(sandbox.control.winDispute(id)).toMatchObject({
      status: 'won',
      balance_transactions: [{ amount: -2000 }, { amount: 2000 }],
    });
    expect(await eventsSince()).toEqual([
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
      'charge.dispute.closed',
      'charge.dispute.updated',
      'charge.dispute.closed',
      'charge.dispute.updated',
      'charge.dispute.funds_reinstated',
      'charge.dispute.closed',
    ]);
  });

  test('come once for a charge, and for at most its amount', () => {
    expect(() => sandbox.control.dispute(intent.id, { amount: 2001 })).toThrow(/at most/);
    sandbox.control.dispute(intent.id);
    expect(() => sandbox.control.dispute(intent.id)).toThrow(/disputed already/);
  });
});

test('an early fraud warning names charge and payment', () => {
  expect(sandbox.control.warnOfFraud(intent.id)).toMatchObject({
    object: 'radar.early_fraud_warning',
    charge: intent.latest_charge,
    payment_intent: intent.id,
  });
});
