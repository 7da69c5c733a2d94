import type Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { checkoutParams, clientOf, failureOf, SECRET_KEY, start } from './support.ts';

let sandbox: Sandbox;
let stripe: Stripe;

beforeAll(async () => {
  sandbox = await start();
  stripe = clientOf(sandbox);
});
afterAll(() => sandbox.close());

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${sandbox.url}${path}`, {
    method: 'POST',
    body,
    headers: {
      authorization: `Bearer ${SECRET_KEY}`,
      'content-type': 'application/x-www-form-urlencoded',
      ...headers,
    },
  });

describe('authentication', () => {
  test.each([
    ['no key', {}],
    ['another key', { authorization: 'Bearer sk_test_wrong' }],
    ['a live key', { authorization: 'Bearer sk_live_real' }],
  ])('401 with %s, without repeating it', async (_name, headers) => {
    const response = await fetch(`${sandbox.url}/v1/customers`, {
      headers: headers as Record<string, string>,
    });
    const text = await response.text();
    expect(response.status).toBe(401);
    expect(JSON.parse(text)).toMatchObject({ error: { type: 'invalid_request_error' } });
    expect(text).not.toMatch(/sk_/);
  });

  test('the client sees its own error class', async () => {
    const error = await failureOf(clientOf(sandbox).customers.list({}, { apiKey: 'sk_test_other' }));
    expect(error.type).toBe('StripeAuthenticationError');
  });

  test('a key as Basic user name works too', async () => {
    const credentials = Buffer.from(`${SECRET_KEY}:`).toString('base64');
    const headers = { authorization: `Basic ${credentials}` };
    expect((await fetch(`${sandbox.url}/v1/customers`, { headers })).status).toBe(200);
  });
});

describe('requests', () => {
  test('answers carry the request id and echo the version', async () => {
    const customer = await stripe.customers.create({ email: 'a@example.com' });
    expect(customer.lastResponse.requestId).toMatch(/^req_\w{14}$/);
    expect(customer.lastResponse.apiVersion).toBe('2026-10-28.endive');
  });

  test('an unknown route is 404 in the shape of an error', async () => {
    const response = await post('/v1/subscriptions', '');
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        message: 'Unrecognized request URL (POST: /v1/subscriptions).',
      },
    });
  });

  test('an unknown resource is 404 resource_missing', async () => {
    const error = await failureOf(stripe.paymentIntents.retrieve('pi_nothing'));
    expect(error).toMatchObject({ statusCode: 404, code: 'resource_missing', param: 'id' });
  });

  test('an unknown resource in a parameter is 400 resource_missing', async () => {
    const error = await failureOf(stripe.checkout.sessions.create(checkoutParams('cus_nobody')));
    expect(error).toMatchObject({ statusCode: 400, code: 'resource_missing', param: 'customer' });
  });

  test.each([
    ['/v1/payment_intents', 'currency=usd', 'parameter_missing', 'amount'],
    [
      '/v1/payment_intents',
      'amount=500&currency=usd&payment_method_types[0]=card',
      'parameter_unknown',
      'payment_method_types',
    ],
    [
      '/v1/checkout/sessions',
      'mode=payment&payment_method_types[]=card',
      'parameter_unknown',
      'payment_method_types',
    ],
    ['/v1/payment_intents', 'amount=5e2&currency=usd', 'parameter_invalid_integer', 'amount'],
    ['/v1/payment_intents', 'amount=49&currency=usd', 'amount_too_small', 'amount'],
    ['/v1/payment_intents', 'amount=100000000&currency=usd', 'amount_too_large', 'amount'],
    ['/v1/payment_intents', 'amount=500&currency=usd&customer=', 'parameter_invalid_empty', 'customer'],
    ['/v1/customers', '__proto__[polluted]=1', 'parameter_unknown', '__proto__'],
    [
      '/v1/billing_portal/sessions',
      'customer=cus_1&return_url=javascript:alert(1)',
      'url_invalid',
      'return_url',
    ],
  ])('400 for %s %s: %s', async (path, body, code, param) => {
    const response = await post(path, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', code, param } });
  });

  test('a nested parameter is named by its whole path', async () => {
    const params = checkoutParams();
    const [item] = params.line_items ?? [];
    Object.assign(item?.price_data ?? {}, { colour: 'red' });
    const error = await failureOf(stripe.checkout.sessions.create(params));
    expect(error).toMatchObject({ code: 'parameter_unknown', param: 'line_items[0][price_data][colour]' });
  });

  test.each(['a[b', '[a]=1', 'a=1&a[b]=2', 'a[b]=1&a[b][c]=2', 'a[]b=1', 'a[1][2][3][4][5][6][7][8][9]=1'])(
    '400 for the malformed parameter %s',
    async (body) => {
      expect((await post('/v1/customers', body)).status).toBe(400);
    },
  );

  test('413 for a body above 1 MiB', async () => {
    expect((await post('/v1/customers', `description=${'x'.repeat(1024 * 1024)}`)).status).toBe(413);
  });
});

describe('customers', () => {
  test('are created, read, changed, listed by e-mail and deleted', async () => {
    const created = await stripe.customers.create({
      email: 'one@example.com',
      name: 'One',
      metadata: { tenant: 't1', extra: 'x' },
    });
    expect(created.id).toMatch(/^cus_\w{24}$/);
    const updated = await stripe.customers.update(created.id, { name: 'Uno', metadata: { extra: '' } });
    expect(updated).toMatchObject({ name: 'Uno', email: 'one@example.com', metadata: { tenant: 't1' } });
    expect(updated.metadata).not.toHaveProperty('extra');
    const found = await stripe.customers.list({ email: 'one@example.com' });
    expect(found.data.map(({ id }) => id)).toEqual([created.id]);

    expect(await stripe.customers.del(created.id)).toMatchObject({ id: created.id, deleted: true });
    expect(await stripe.customers.retrieve(created.id)).toMatchObject({ deleted: true });
    const error = await failureOf(stripe.billingPortal.sessions.create({ customer: created.id }));
    expect(error).toMatchObject({ code: 'resource_missing', param: 'customer' });
  });
});

describe('lists', () => {
  test('are newest first and page by identifier', async () => {
    const { id: customer } = await stripe.customers.create({});
    const ids: string[] = [];
    for (const amount of [100, 200, 300, 400, 500]) {
      const intent = await stripe.paymentIntents.create({ amount, currency: 'usd', customer });
      ids.unshift(intent.id);
    }
    const page = await stripe.paymentIntents.list({ customer, limit: 2 });
    expect(page).toMatchObject({ object: 'list', has_more: true, url: '/v1/payment_intents' });
    expect(page.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const rest = await stripe.paymentIntents.list({ customer, limit: 3, starting_after: ids[1]! });
    expect(rest.has_more).toBe(false);
    expect(rest.data.map(({ id }) => id)).toEqual(ids.slice(2));
    const before = await stripe.paymentIntents.list({ customer, limit: 1, ending_before: ids[2]! });
    expect(before.data.map(({ id }) => id)).toEqual([ids[1]]);
    const all: string[] = [];
    for await (const intent of stripe.paymentIntents.list({ customer, limit: 2 })) all.push(intent.id);
    expect(all).toEqual(ids);
  });

  test('are cut by time of creation', async () => {
    let time = new Date('2026-01-01T00:00:00Z');
    const other = await start({ clock: () => time });
    const client = clientOf(other);
    const first = await client.paymentIntents.create({ amount: 100, currency: 'usd' });
    time = new Date('2026-01-02T00:00:00Z');
    const second = await client.paymentIntents.create({ amount: 200, currency: 'usd' });
    const ids = async (created: Stripe.RangeQueryParam) =>
      (await client.paymentIntents.list({ created })).data.map(({ id }) => id);
    expect(await ids({ gte: second.created })).toEqual([second.id]);
    expect(await ids({ gt: first.created - 1, lt: second.created })).toEqual([first.id]);
    expect(await ids({ lte: second.created })).toEqual([second.id, first.id]);
    await other.close();
  });

  test('are searched by metadata', async () => {
    const wanted = await stripe.paymentIntents.create({
      amount: 700,
      currency: 'usd',
      metadata: { key: "it's" },
    });
    await stripe.paymentIntents.create({ amount: 700, currency: 'usd', metadata: { key: 'other' } });
    const found = await stripe.paymentIntents.search({
      query: "metadata['key']:'it\\'s' AND amount:700 AND -status:'canceled'",
    });
    expect(found.data.map(({ id }) => id)).toEqual([wanted.id]);
    expect(await failureOf(stripe.paymentIntents.search({ query: 'shoe size 12' }))).toMatchObject({
      statusCode: 400,
      param: 'query',
    });
  });
});

describe('expand', () => {
  test('puts the object where its identifier was', async () => {
    const { id: customer } = await stripe.customers.create({ email: 'e@example.com' });
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer });
    const intent = await stripe.paymentIntents.create({
      amount: 900,
      currency: 'usd',
      customer,
      payment_method: method.id,
      off_session: true,
      confirm: true,
      expand: ['latest_charge', 'payment_method.customer'],
    });
    expect(intent.latest_charge).toMatchObject({ object: 'charge', amount: 900, paid: true });
    expect(intent.payment_method).toMatchObject({ id: method.id, customer: { id: customer } });
    const list = await stripe.paymentIntents.list({ customer, expand: ['data.customer'] });
    expect(list.data[0]?.customer).toMatchObject({ email: 'e@example.com' });
    const charge = await stripe.charges.retrieve(
      String((await stripe.paymentIntents.retrieve(intent.id)).latest_charge),
    );
    expect(charge.payment_intent).toBe(intent.id);
  });

  test('a path that cannot be expanded is refused, without effect', async () => {
    const { id: customer } = await stripe.customers.create({});
    const params = { amount: 100, currency: 'usd', customer, expand: ['colour'] };
    expect(await failureOf(stripe.paymentIntents.create(params))).toMatchObject({
      statusCode: 400,
      param: 'expand',
    });
    expect((await stripe.paymentIntents.list({ customer })).data).toEqual([]);
  });

  test('shows the line items of a session and the default card of a customer', async () => {
    const session = await stripe.checkout.sessions.create({ ...checkoutParams(), expand: ['line_items'] });
    expect(session.line_items?.data).toMatchObject([
      { description: 'Credit', amount_total: 5000, quantity: 1 },
    ]);
    expect((await stripe.checkout.sessions.listLineItems(session.id)).data).toHaveLength(1);
    const { id } = await stripe.customers.create({});
    const method = await stripe.paymentMethods.attach('pm_card_mastercard', { customer: id });
    const customer = await stripe.customers.update(id, {
      invoice_settings: { default_payment_method: method.id },
      expand: ['invoice_settings.default_payment_method'],
    });
    expect(customer.invoice_settings.default_payment_method).toMatchObject({ id: method.id });
  });
});

describe('payment methods', () => {
  test('the same number has the same fingerprint, another number another one', async () => {
    const { id: customer } = await stripe.customers.create({});
    const [a, b, c] = await Promise.all(
      ['pm_card_visa', 'pm_card_visa', 'pm_card_mastercard'].map((card) =>
        stripe.paymentMethods.attach(card, { customer }),
      ),
    );
    expect(a?.id).not.toBe(b?.id);
    expect(a?.card?.fingerprint).toBe(b?.card?.fingerprint);
    expect(a?.card?.fingerprint).not.toBe(c?.card?.fingerprint);
    const listed = await stripe.customers.listPaymentMethods(customer, { type: 'card' });
    expect(listed.data.map(({ id }) => id).sort()).toEqual([a?.id, b?.id, c?.id].sort());
    expect((await stripe.paymentMethods.list({ customer })).data).toHaveLength(3);
  });

  test('a detached one cannot be used, attached or detached again', async () => {
    const { id: customer } = await stripe.customers.create({});
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer });
    expect((await stripe.paymentMethods.detach(method.id)).customer).toBeNull();
    const payment = { amount: 500, currency: 'usd', customer, payment_method: method.id };
    for (const call of [
      () => stripe.paymentMethods.attach(method.id, { customer }),
      () => stripe.paymentMethods.detach(method.id),
      () => stripe.paymentIntents.create(payment),
    ]) {
      expect(await failureOf(call())).toMatchObject({ statusCode: 400, type: 'StripeInvalidRequestError' });
    }
    expect((await stripe.paymentMethods.list({ customer })).data).toEqual([]);
  });

  test('the card of another customer is refused', async () => {
    const [mine, other] = await Promise.all([stripe.customers.create({}), stripe.customers.create({})]);
    const method = await stripe.paymentMethods.attach('pm_card_visa', { customer: mine.id });
    const params = { amount: 500, currency: 'usd', customer: other.id, payment_method: method.id };
    expect(await failureOf(stripe.paymentIntents.create(params))).toMatchObject({
      statusCode: 400,
      param: 'payment_method',
    });
    expect(await failureOf(stripe.paymentMethods.attach(method.id, { customer: other.id }))).toMatchObject({
      statusCode: 400,
    });
  });

  test('numbers that are not test cards are refused', async () => {
    const card = { number: '4929000000006', exp_month: 1, exp_year: 2030 };
    const error = await failureOf(stripe.paymentMethods.create({ type: 'card', card }));
    expect(error).toMatchObject({ statusCode: 402, code: 'card_declined' });
  });

  test('a payment intent restricted to cards refuses a bank account', async () => {
    const { id: customer } = await stripe.customers.create({});
    const method = await stripe.paymentMethods.attach('pm_usBankAccount_success', { customer });
    const params: Stripe.PaymentIntentCreateParams = {
      amount: 500,
      currency: 'usd',
      customer,
      payment_method: method.id,
      allowed_payment_method_types: ['card'],
    };
    expect(await failureOf(stripe.paymentIntents.create(params))).toMatchObject({ param: 'payment_method' });
  });
});

test('a payment intent is canceled once, and never after it succeeded', async () => {
  const intent = await stripe.paymentIntents.create({ amount: 500, currency: 'usd' });
  const canceled = await stripe.paymentIntents.cancel(intent.id, { cancellation_reason: 'abandoned' });
  expect(canceled).toMatchObject({ status: 'canceled', cancellation_reason: 'abandoned' });
  const paid = await stripe.paymentIntents.create({
    amount: 500,
    currency: 'usd',
    payment_method: 'pm_card_visa',
    confirm: true,
  });
  for (const id of [intent.id, paid.id]) {
    expect(await failureOf(stripe.paymentIntents.cancel(id))).toMatchObject({
      code: 'payment_intent_unexpected_state',
    });
  }
});
