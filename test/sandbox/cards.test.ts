import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { chargeSaved, checkoutParams, clientOf, failureOf, start } from './support.ts';

let sandbox: Sandbox;
let stripe: Stripe;

beforeAll(async () => {
  sandbox = await start();
  stripe = clientOf(sandbox);
});
afterAll(() => sandbox.close());

const eventsOf = async (id: string) => {
  const events = await stripe.events.list({ limit: 100 });
  return events.data
    .filter((event) => JSON.stringify(event.data.object).includes(id))
    .map(({ type }) => type)
    .reverse();
};

const saveCard = async (card: string) => {
  const { id: customer } = await stripe.customers.create({ email: 'cards@example.com' });
  return { customer, method: sandbox.control.saveCard(customer, card).id };
};

describe('off-session charges', () => {
  test.each(['4242424242424242', '5555555555554444', '4000000000000077'])('%s succeeds', async (card) => {
    const { customer, method } = await saveCard(card);
    const intent = await stripe.paymentIntents.create(chargeSaved(customer, method));
    expect(intent).toMatchObject({
      status: 'succeeded',
      amount_received: 2000,
      customer,
      payment_method: method,
      metadata: { order: '8' },
      last_payment_error: null,
    });
    expect(await eventsOf(intent.id)).toEqual([
      'payment_intent.created',
      'charge.succeeded',
      'payment_intent.succeeded',
    ]);
  });

  test.each([
    ['4000000000000002', 'card_declined', 'generic_decline', 'try_again_later'],
    ['4000000000009995', 'card_declined', 'insufficient_funds', 'try_again_later'],
    ['4000000000009987', 'card_declined', 'lost_card', 'do_not_try_again'],
    ['4000000000009979', 'card_declined', 'stolen_card', 'do_not_try_again'],
    ['4000000000000069', 'expired_card', 'expired_card', 'confirm_card_data'],
    ['4000000000000127', 'incorrect_cvc', 'incorrect_cvc', 'confirm_card_data'],
    ['4000000000000119', 'processing_error', 'processing_error', 'try_again_later'],
    ['4000000000000341', 'card_declined', 'generic_decline', 'try_again_later'],
  ])('%s is declined: %s, %s', async (card, code, declineCode, adviceCode) => {
    const { customer, method } = await saveCard(card);
    const error = await failureOf(stripe.paymentIntents.create(chargeSaved(customer, method)));
    expect(error).toMatchObject({
      type: 'StripeCardError',
      statusCode: 402,
      code,
      decline_code: declineCode,
      raw: { advice_code: adviceCode, type: 'card_error' },
      payment_intent: { status: 'requires_payment_method', metadata: { order: '8' } },
    });
    const id = error.payment_intent?.id ?? '';
    const intent = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
    expect(intent.last_payment_error).toMatchObject({
      code,
      decline_code: declineCode,
      payment_method: { id: method },
    });
    expect(intent.latest_charge).toMatchObject({ status: 'failed', failure_code: code, paid: false });
    expect(await eventsOf(id)).toEqual([
      'payment_intent.created',
      'charge.failed',
      'payment_intent.payment_failed',
    ]);
  });

  test.each(['4000002760003184', '4000002500003155'])('%s requires authentication', async (card) => {
    const { customer, method } = await saveCard(card);
    const error = await failureOf(stripe.paymentIntents.create(chargeSaved(customer, method)));
    expect(error).toMatchObject({
      statusCode: 402,
      code: 'authentication_required',
      decline_code: 'authentication_required',
      payment_intent: { status: 'requires_payment_method' },
    });
  });

  test('4000000000000259 is disputed after it was paid', async () => {
    const { customer, method } = await saveCard('4000000000000259');
    const intent = await stripe.paymentIntents.create(chargeSaved(customer, method));
    expect(intent.status).toBe('succeeded');
    const [dispute] = (await stripe.disputes.list({ payment_intent: intent.id })).data;
    expect(dispute).toMatchObject({ status: 'needs_response', reason: 'fraudulent', amount: 2000 });
    expect((await eventsOf(intent.id)).slice(-3)).toEqual([
      'payment_intent.succeeded',
      'charge.dispute.created',
      'charge.dispute.funds_withdrawn',
    ]);
  });

  test('4000000000005423 causes an early fraud warning', async () => {
    const { customer, method } = await saveCard('4000000000005423');
    const intent = await stripe.paymentIntents.create(chargeSaved(customer, method));
    const [warning] = (await stripe.radar.earlyFraudWarnings.list({ payment_intent: intent.id })).data;
    expect(warning).toMatchObject({ charge: intent.latest_charge, actionable: true });
    expect(await stripe.radar.earlyFraudWarnings.retrieve(warning!.id)).toMatchObject({ id: warning!.id });
    expect(await eventsOf(intent.id)).toContain('radar.early_fraud_warning.created');
  });

  test('4000000000005126 pays, but its refund fails', async () => {
    const { customer, method } = await saveCard('4000000000005126');
    const intent = await stripe.paymentIntents.create(chargeSaved(customer, method));
    const refund = await stripe.refunds.create({ payment_intent: intent.id });
    expect(refund).toMatchObject({ status: 'failed', failure_reason: 'expired_or_canceled_card' });
  });
});

describe('on-session confirmation', () => {
  const params: Stripe.PaymentIntentCreateParams = {
    amount: 1500,
    currency: 'usd',
    payment_method: 'pm_card_authenticationRequired',
    confirm: true,
  };

  test('an authentication card waits for the buyer', async () => {
    const intent = await stripe.paymentIntents.create({ ...params, return_url: 'http://shop.example/back' });
    expect(intent).toMatchObject({
      status: 'requires_action',
      next_action: { type: 'redirect_to_url', redirect_to_url: { return_url: 'http://shop.example/back' } },
    });
    expect(sandbox.control.authenticate(intent.id, { confirmed: true })).toMatchObject({
      status: 'succeeded',
    });
    expect(await eventsOf(intent.id)).toEqual([
      'payment_intent.created',
      'payment_intent.requires_action',
      'charge.succeeded',
      'payment_intent.succeeded',
    ]);
  });

  test('a failed authentication asks for another card, which may then pay', async () => {
    const intent = await stripe.paymentIntents.create(params);
    expect(sandbox.control.authenticate(intent.id, { confirmed: false })).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code: 'payment_intent_authentication_failure' },
    });
    const paid = await stripe.paymentIntents.confirm(intent.id, { payment_method: 'pm_card_visa' });
    expect(paid).toMatchObject({ status: 'succeeded', last_payment_error: null });
  });

  test('error_on_requires_action declines instead of waiting', async () => {
    const error = await failureOf(
      stripe.paymentIntents.create({ ...params, error_on_requires_action: true }),
    );
    expect(error).toMatchObject({ statusCode: 402, code: 'authentication_required' });
  });
});

test('4000000000000341 pays at checkout and is declined afterwards', async () => {
  const { id: customer } = await stripe.customers.create({ email: 'later@example.com' });
  const session = await stripe.checkout.sessions.create(checkoutParams(customer));
  const paid = sandbox.control.pay(session.id, { card: '4000 0000 0000 0341' });
  expect(paid.status).toBe('succeeded');
  const error = await failureOf(
    stripe.paymentIntents.create(chargeSaved(customer, String(paid.payment_method))),
  );
  expect(error.code).toBe('card_declined');
});
