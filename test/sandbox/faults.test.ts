import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import {
  chargeSaved,
  clientOf,
  failureOf,
  type Receiver,
  start,
  startReceiver,
  WEBHOOK_SECRET,
} from './support.ts';

let sandbox: Sandbox;
let stripe: Stripe;
let receiver: Receiver;
let customer: string;
let params: Stripe.PaymentIntentCreateParams;

const PATH = '/v1/payment_intents';

beforeAll(async () => {
  receiver = await startReceiver();
  sandbox = await start({ webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }] });
  stripe = clientOf(sandbox);
  customer = (await stripe.customers.create({})).id;
  params = chargeSaved(customer, sandbox.control.saveCard(customer, '4242424242424242').id);
});
afterEach(async () => {
  sandbox.control.clearFaults();
  await sandbox.control.idle();
  receiver.received.length = 0;
});
afterAll(async () => {
  await sandbox.close();
  await receiver.close();
});

const count = async () => (await stripe.paymentIntents.list({ customer, limit: 100 })).data.length;

describe('after the work was done', () => {
  test.each([
    ['commit_then_timeout', { ms: 20 }],
    ['commit_then_reset', {}],
    ['truncate_body', {}],
  ] as const)('%s leaves the client without an answer; the same key finds it', async (effect, more) => {
    const before = await count();
    const idempotencyKey = randomUUID();
    // The client retries a closed connection once by itself, so two faults are needed.
    sandbox.control.fault({ effect, method: 'POST', path: PATH, count: 2, ...more });
    const error = await failureOf(stripe.paymentIntents.create(params, { idempotencyKey }));
    expect(error.type).toBe('StripeConnectionError');
    sandbox.control.clearFaults();
    expect(await count()).toBe(before + 1);
    const intent = await stripe.paymentIntents.create(params, { idempotencyKey });
    expect(intent).toMatchObject({ status: 'succeeded' });
    expect(intent.lastResponse.headers['idempotent-replayed']).toBe('true');
    expect(await count()).toBe(before + 1);
  });

  test('the payment of a client that times out still counts', async () => {
    const before = await count();
    sandbox.control.fault({ effect: 'commit_then_timeout', path: PATH, ms: 60_000 });
    const error = await failureOf(stripe.paymentIntents.create(params, { timeout: 100 }));
    expect(error.type).toBe('StripeConnectionError');
    expect(await count()).toBe(before + 1);
  });
});

describe('before any work', () => {
  test.each([
    ['fail_500', 500, 'StripeAPIError'],
    ['rate_limit_429', 429, 'StripeRateLimitError'],
  ] as const)('%s does nothing and keeps nothing', async (effect, statusCode, type) => {
    const before = await count();
    const idempotencyKey = randomUUID();
    sandbox.control.fault({ effect, path: PATH });
    expect(await failureOf(stripe.paymentIntents.create(params, { idempotencyKey }))).toMatchObject({
      statusCode,
      type,
    });
    expect(await count()).toBe(before);
    const intent = await stripe.paymentIntents.create(params, { idempotencyKey });
    expect(intent.lastResponse.headers['idempotent-replayed']).toBeUndefined();
    expect(await count()).toBe(before + 1);
  });
});

test('keep_500 does nothing and is kept', async () => {
  const before = await count();
  const idempotencyKey = randomUUID();
  sandbox.control.fault({ effect: 'keep_500', path: PATH });
  for (const replayed of [undefined, 'true']) {
    const error = await failureOf(stripe.paymentIntents.create(params, { idempotencyKey }));
    expect(error).toMatchObject({ statusCode: 500, type: 'StripeAPIError' });
    expect(error.headers?.['idempotent-replayed']).toBe(replayed);
  }
  expect(await count()).toBe(before);
  await stripe.paymentIntents.create(params, { idempotencyKey: randomUUID() });
  expect(await count()).toBe(before + 1);
});

describe('matching', () => {
  test('by method, path pattern, count and skip', async () => {
    sandbox.control.fault({ effect: 'fail_500', method: 'GET', path: '/v1/*/cus_*', count: 2, skip: 1 });
    await stripe.customers.update(customer, { name: 'x' });
    await stripe.customers.retrieve(customer);
    await stripe.paymentIntents.list({ limit: 1 });
    for (let call = 0; call < 2; call += 1) {
      expect((await failureOf(stripe.customers.retrieve(customer))).statusCode).toBe(500);
    }
    expect((await stripe.customers.retrieve(customer)).id).toBe(customer);
    expect(sandbox.control.waitingFaults()).toEqual([]);
  });

  test.each([
    { effect: 'explode' },
    { effect: 'slow', ms: -1 },
    { effect: 'slow', count: 0 },
    { effect: 'drop', event: 7 },
  ])('%o is refused', (fault) => {
    expect(() => sandbox.control.fault(fault as never)).toThrow(RangeError);
  });
});

describe('deliveries', () => {
  const delivered = async () => {
    await sandbox.control.idle();
    return receiver.types();
  };

  test('webhook_first: the event is there before the answer', async () => {
    sandbox.control.fault({ effect: 'webhook_first', method: 'POST', path: PATH });
    const intent = await stripe.paymentIntents.create(params);
    // Read at once, without any wait.
    const seen = receiver.received.filter(({ event }) => event.type === 'payment_intent.succeeded');
    expect(seen.map(({ event }) => (event.data.object as Stripe.PaymentIntent).id)).toEqual([intent.id]);
  });

  test('repeat: the same event arrives several times', async () => {
    sandbox.control.fault({ effect: 'repeat', event: 'payment_intent.succeeded', times: 10 });
    await stripe.paymentIntents.create(params);
    await delivered();
    const ids = receiver.received
      .filter(({ event }) => event.type === 'payment_intent.succeeded')
      .map(({ event }) => event.id);
    expect(ids).toHaveLength(10);
    expect(new Set(ids).size).toBe(1);
  });

  test('reorder: events are held and then arrive newest first', async () => {
    sandbox.control.fault({ effect: 'reorder', count: 3 });
    await stripe.paymentIntents.create(params);
    expect(await delivered()).toEqual([]);
    const released = await sandbox.control.release();
    expect(released.map(({ status }) => status)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(receiver.types()).toEqual([
      'payment_intent.succeeded',
      'charge.succeeded',
      'payment_intent.created',
    ]);
  });

  test('drop: the event is found in the list only', async () => {
    sandbox.control.fault({ effect: 'drop', event: 'payment_intent.*', count: 2 });
    const intent = await stripe.paymentIntents.create(params);
    expect(await delivered()).toEqual(['charge.succeeded']);
    const [event] = (await stripe.events.list({ type: 'payment_intent.succeeded', limit: 1 })).data;
    expect(event?.data.object).toMatchObject({ id: intent.id });
  });

  test('corrupt_signature: refused at first, accepted when sent again', async () => {
    sandbox.control.fault({ effect: 'corrupt_signature', event: 'payment_intent.succeeded' });
    await stripe.paymentIntents.create(params);
    expect(await delivered()).toContain('payment_intent.succeeded');
    const last = sandbox.control.deliveries().findLast(({ type }) => type === 'payment_intent.succeeded');
    expect(last?.attempts.map(({ status }) => status)).toEqual([400, 200]);
  });

  test('delay: the event comes after the others', async () => {
    sandbox.control.fault({ effect: 'delay', event: 'payment_intent.created', ms: 300 });
    await stripe.paymentIntents.create(params);
    expect((await delivered()).at(-1)).toBe('payment_intent.created');
  });
});
