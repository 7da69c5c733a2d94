import { randomUUID } from 'node:crypto';
import type Stripe from 'stripe';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { chargeSaved, clientOf, failureOf, start } from './support.ts';

let sandbox: Sandbox;
let stripe: Stripe;
let time = new Date('2026-03-01T00:00:00Z');

beforeAll(async () => {
  sandbox = await start({ clock: () => time });
  stripe = clientOf(sandbox);
});
afterEach(() => sandbox.control.clearFaults());
afterAll(() => sandbox.close());

const intents = async (customer: string) => (await stripe.paymentIntents.list({ customer })).data;
const buyer = async (card: string) => {
  const { id } = await stripe.customers.create({});
  return { customer: id, params: chargeSaved(id, sandbox.control.saveCard(id, card).id) };
};

describe('the same key', () => {
  test('gets the first answer again, marked as a replay', async () => {
    const { customer, params } = await buyer('4242424242424242');
    const idempotencyKey = randomUUID();
    const first = await stripe.paymentIntents.create(params, { idempotencyKey });
    const second = await stripe.paymentIntents.create(params, { idempotencyKey });
    expect(second).toEqual(first);
    expect(first.lastResponse.headers['idempotent-replayed']).toBeUndefined();
    expect(second.lastResponse.headers['idempotent-replayed']).toBe('true');
    expect(await intents(customer)).toHaveLength(1);
  });

  test('gets the first decline again', async () => {
    const { customer, params } = await buyer('4000000000009995');
    const idempotencyKey = randomUUID();
    const errors = [
      await failureOf(stripe.paymentIntents.create(params, { idempotencyKey })),
      await failureOf(stripe.paymentIntents.create(params, { idempotencyKey })),
    ];
    expect(errors[1]?.payment_intent?.id).toBe(errors[0]?.payment_intent?.id);
    expect(errors[1]?.headers?.['idempotent-replayed']).toBe('true');
    expect(await intents(customer)).toHaveLength(1);
  });

  test('gets the first 500 again, though the work was done', async () => {
    const { customer, params } = await buyer('4242424242424242');
    const idempotencyKey = randomUUID();
    sandbox.control.fault({ effect: 'commit_then_500', path: '/v1/payment_intents' });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const error = await failureOf(stripe.paymentIntents.create(params, { idempotencyKey }));
      expect(error).toMatchObject({ statusCode: 500, type: 'StripeAPIError' });
    }
    expect(await intents(customer)).toMatchObject([{ status: 'succeeded' }]);
  });

  test('is refused with other parameters', async () => {
    const { customer, params } = await buyer('4242424242424242');
    const idempotencyKey = randomUUID();
    await stripe.paymentIntents.create(params, { idempotencyKey });
    for (const call of [
      () => stripe.paymentIntents.create({ ...params, amount: 2001 }, { idempotencyKey }),
      () => stripe.customers.create({}, { idempotencyKey }),
    ]) {
      expect(await failureOf(call())).toMatchObject({ statusCode: 400, type: 'StripeIdempotencyError' });
    }
    expect(await intents(customer)).toHaveLength(1);
  });

  test('is refused while the first request is being worked on', async () => {
    const { customer, params } = await buyer('4242424242424242');
    const idempotencyKey = randomUUID();
    sandbox.control.fault({ effect: 'slow', path: '/v1/payment_intents', ms: 500 });
    const first = stripe.paymentIntents.create(params, { idempotencyKey });
    await expect.poll(() => sandbox.control.waitingFaults()).toEqual([]);
    const error = await failureOf(stripe.paymentIntents.create(params, { idempotencyKey }));
    expect(error).toMatchObject({ statusCode: 409, code: 'idempotency_key_in_use' });
    expect(error.raw).toMatchObject({ type: 'idempotency_error' });
    expect((await first).status).toBe('succeeded');
    expect((await stripe.paymentIntents.create(params, { idempotencyKey })).id).toBe((await first).id);
    expect(await intents(customer)).toHaveLength(1);
  });

  test('is free again after wrong parameters', async () => {
    const { params } = await buyer('4242424242424242');
    const idempotencyKey = randomUUID();
    const wrong = { ...params, amount: 1 };
    expect((await failureOf(stripe.paymentIntents.create(wrong, { idempotencyKey }))).statusCode).toBe(400);
    const intent = await stripe.paymentIntents.create(params, { idempotencyKey });
    expect(intent.lastResponse.headers['idempotent-replayed']).toBeUndefined();
  });

  test('is forgotten after 24 hours', async () => {
    const idempotencyKey = randomUUID();
    const first = await stripe.customers.create({}, { idempotencyKey });
    time = new Date(time.getTime() + 24 * 3600 * 1000 - 1000);
    expect((await stripe.customers.create({}, { idempotencyKey })).id).toBe(first.id);
    time = new Date(time.getTime() + 1000);
    expect((await stripe.customers.create({}, { idempotencyKey })).id).not.toBe(first.id);
  });
});

test('twenty equal requests at once have one effect', async () => {
  const { customer, params } = await buyer('4242424242424242');
  const idempotencyKey = randomUUID();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => stripe.paymentIntents.create(params, { idempotencyKey })),
  );
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect(await intents(customer)).toHaveLength(1);
});

test('a key of more than 255 characters is refused', async () => {
  const error = await failureOf(stripe.customers.create({}, { idempotencyKey: 'k'.repeat(256) }));
  expect(error.statusCode).toBe(400);
});

test('the parameters may come in another order', async () => {
  const idempotencyKey = randomUUID();
  const first = await stripe.customers.create({ email: 'o@example.com', name: 'O' }, { idempotencyKey });
  const second = await stripe.customers.create({ name: 'O', email: 'o@example.com' }, { idempotencyKey });
  expect(second.id).toBe(first.id);
});
