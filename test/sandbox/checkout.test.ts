import type Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { checkoutParams, clientOf, failureOf, postForm, start } from './support.ts';

let sandbox: Sandbox;
let stripe: Stripe;
let session: Stripe.Checkout.Session;
let time = new Date('2026-05-01T10:00:00Z');

const HOUR = 3600;
const seconds = () => Math.floor(time.getTime() / 1000);

beforeAll(async () => {
  sandbox = await start({ clock: () => time, merchantName: 'Rock & <Roll>' });
  stripe = clientOf(sandbox);
});
beforeEach(async () => {
  const { id } = await stripe.customers.create({ email: 'buyer@example.com' });
  session = await stripe.checkout.sessions.create(checkoutParams(id));
});
afterAll(() => sandbox.close());

const page = () => `${sandbox.url}/c/pay/${session.id}`;
const reload = () => stripe.checkout.sessions.retrieve(session.id, { expand: ['payment_intent'] });
const intentNow = async () => (await reload()).payment_intent as Stripe.PaymentIntent;

/** The events since this session's customer was created, oldest first. */
const eventsSince = async () => {
  const events = (await stripe.events.list({ limit: 100 })).data;
  const end = events.findIndex(({ type }) => type === 'customer.created');
  return events
    .slice(0, end)
    .map(({ type }) => type)
    .reverse();
};

describe('creating a session', () => {
  test('answers with an open session and the address of its page', async () => {
    expect(session).toMatchObject({
      object: 'checkout.session',
      status: 'open',
      payment_status: 'unpaid',
      amount_total: 5000,
      currency: 'usd',
      client_reference_id: 'order-7',
      metadata: { order: '7' },
      payment_intent: null,
      mode: 'payment',
      url: page(),
      expires_at: seconds() + 24 * HOUR,
    });
    expect(session.id).toMatch(/^cs_test_\w{58}$/);
  });

  test.each([
    ['less than 30 minutes', 1799],
    ['more than 24 hours', 24 * HOUR + 1],
  ])('refuses to expire after %s', async (_name, after) => {
    const params = { ...checkoutParams(), expires_at: seconds() + after };
    expect(await failureOf(stripe.checkout.sessions.create(params))).toMatchObject({ param: 'expires_at' });
  });

  test.each([
    ['success_url', { success_url: 'javascript:alert(1)' }],
    ['cancel_url', { cancel_url: 'data:text/html,x' }],
    ['mode', { mode: 'subscription' as const }],
    ['line_items', { line_items: [] }],
    [
      'line_items',
      { line_items: [{ price_data: { currency: 'usd', unit_amount: 10, product_data: { name: 'x' } } }] },
    ],
    ['payment_method_types', { payment_method_types: ['card'] }],
  ])('refuses a wrong %s', async (param, wrong) => {
    const params = { ...checkoutParams(), ...wrong } as Stripe.Checkout.SessionCreateParams;
    expect(await failureOf(stripe.checkout.sessions.create(params))).toMatchObject({
      statusCode: 400,
      param,
    });
  });

  test('takes a customer or makes one, not both', async () => {
    const params = { ...checkoutParams(), customer: String(session.customer) };
    expect((await failureOf(stripe.checkout.sessions.create(params))).statusCode).toBe(400);
  });
});

describe('the payment page', () => {
  test('shows the item, the merchant, and that no money moves', async () => {
    const response = await fetch(page());
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain('$50.00');
    expect(text).toContain('Credit');
    expect(text).toContain('No real money moves here');
    expect(text).toContain('Rock &amp; &lt;Roll&gt;');
    expect(text).toMatch(/<input type="radio" name="card" value="4242424242424242" checked>/);
  });

  test('runs no script, loads nothing from other hosts, and is not framed', async () => {
    const response = await fetch(page());
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("form-action 'self' http://shop.example");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    const text = await response.text();
    expect(text).not.toMatch(/<script|style=|https?:\/\/(?!shop\.example)/);
    expect((await fetch(`${sandbox.url}/assets/style.css`)).headers.get('content-type')).toContain(
      'text/css',
    );
  });

  test('escapes whatever the merchant sends', async () => {
    const hostile = `"><script>alert('x')</script>`;
    const params = checkoutParams();
    const evil = await stripe.checkout.sessions.create({
      ...params,
      customer_email: `${hostile}@example.com`,
      cancel_url: `http://shop.example/?q=${hostile}`,
      line_items: [
        {
          price_data: {
            currency: 'usd',
            unit_amount: 500,
            product_data: { name: hostile, description: hostile },
          },
        },
      ],
    });
    const text = await (await fetch(evil.url ?? '')).text();
    expect(text).not.toContain('<script');
    expect(text.match(/&quot;&gt;&lt;script&gt;/g)).toHaveLength(4);
  });

  test('does not exist for an unknown session', async () => {
    expect((await fetch(`${sandbox.url}/c/pay/cs_test_nothing`)).status).toBe(404);
    expect((await postForm(`${sandbox.url}/c/pay/cs_test_nothing`, {})).status).toBe(404);
  });

  test('refuses a form from another website', async () => {
    const card = { card: '4242424242424242' };
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ] as Array<Record<string, string>>) {
      expect((await postForm(page(), card, headers)).status).toBe(403);
    }
    expect((await reload()).status).toBe('open');
    expect(
      (await postForm(page(), card, { origin: sandbox.url, 'sec-fetch-site': 'same-origin' })).status,
    ).toBe(303);
  });
});

describe('paying', () => {
  test('leads to the success page; session, intent, card and events agree', async () => {
    const response = await postForm(page(), { card: '4242424242424242' });
    expect(response.status).toBe(303);
    expect(response.headers.get('location')).toBe(`http://shop.example/done?session=${session.id}`);
    const paid = await reload();
    expect(paid).toMatchObject({ status: 'complete', payment_status: 'paid', url: null });
    const intent = paid.payment_intent as Stripe.PaymentIntent;
    expect(intent).toMatchObject({
      status: 'succeeded',
      amount: 5000,
      amount_received: 5000,
      metadata: { order: '7' },
      customer: session.customer,
      setup_future_usage: 'off_session',
    });
    const cards = await stripe.customers.listPaymentMethods(String(session.customer));
    expect(cards.data.map(({ id }) => id)).toEqual([intent.payment_method]);
    expect(await eventsSince()).toEqual([
      'payment_intent.created',
      'charge.succeeded',
      'payment_method.attached',
      'payment_intent.succeeded',
      'checkout.session.completed',
    ]);
  });

  test('a second click does not pay again', async () => {
    await postForm(page(), { card: '4242424242424242' });
    const again = await postForm(page(), { card: '4242424242424242' });
    expect(again.headers.get('location')).toBe(`http://shop.example/done?session=${session.id}`);
    expect((await stripe.charges.list({ customer: String(session.customer) })).data).toHaveLength(1);
    const text = await (await fetch(page())).text();
    expect(text).toContain('Your payment of $50.00 is complete.');
  });

  test('a declined card keeps the page open for another one', async () => {
    const declined = await postForm(page(), { card: '4000000000009995' });
    expect(declined.headers.get('location')).toBe(page());
    expect(await (await fetch(page())).text()).toMatch(/role="alert">Your card has insufficient funds\./);
    expect((await reload()).status).toBe('open');
    const { id } = await intentNow();
    await postForm(page(), { card: '4242424242424242' });
    expect(await intentNow()).toMatchObject({ id, status: 'succeeded' });
    expect((await eventsSince()).filter((type) => type.startsWith('payment_intent.'))).toEqual([
      'payment_intent.created',
      'payment_intent.payment_failed',
      'payment_intent.succeeded',
    ]);
  });

  test.each([
    ['a card shown at once', { card: '4000000000009995' }, '4000000000009995'],
    ['a card that is folded away', { card: '4000000000000002' }, '4000000000000002'],
    ['a typed number', { card: '4242424242424242', card_number: '4000 0000 0000 0002' }, '4000000000000002'],
  ])('a decline keeps what was chosen: %s', async (_, form, kept) => {
    await postForm(page(), form);
    const text = await (await fetch(page())).text();
    expect([...text.matchAll(/value="(\w+)" checked>/g)].map(([, value]) => value)).toEqual([kept]);
    const isFolded = /<details>.*?value="4000000000000002"/s.test(text);
    expect(isFolded).toBe(kept !== '4000000000000002');
  });

  test('a typed card number counts before the chosen card', async () => {
    await postForm(page(), { card: '4242424242424242', card_number: '5555 5555 5555 4444' });
    const { payment_method } = await intentNow();
    expect((await stripe.paymentMethods.retrieve(String(payment_method))).card?.brand).toBe('mastercard');
  });

  test.each([{ card_number: '4929 0000 0000 6' }, { card: 'nonsense' }, {}])(
    '%o is not a test card: nothing is charged',
    async (fields) => {
      const response = await postForm(page(), fields as Record<string, string>);
      expect(response.status).toBe(422);
      expect(await response.text()).toContain('Choose one of the test cards.');
      expect((await reload()).payment_intent).toBeNull();
    },
  );

  test('a new customer is made from the e-mail address on the page', async () => {
    session = await stripe.checkout.sessions.create(checkoutParams());
    expect((await fetch(page()).then((response) => response.text())).includes('type="email"')).toBe(true);
    expect((await postForm(page(), { card: '4242424242424242' })).status).toBe(422);
    await postForm(page(), { card: '4242424242424242', email: 'fresh@example.com' });
    const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ['customer'] });
    expect(paid.customer).toMatchObject({ email: 'fresh@example.com' });
    expect(paid.customer_details?.email).toBe('fresh@example.com');
  });

  test('a session for cards only offers and takes no bank debit', async () => {
    const params = checkoutParams(String(session.customer));
    session = await stripe.checkout.sessions.create({ ...params, allowed_payment_method_types: ['card'] });
    expect(await (await fetch(page())).text()).not.toContain('Bank debit');
    expect((await postForm(page(), { card: 'bank_debit_succeeds' })).status).toBe(422);
    expect(() => sandbox.control.pay(session.id, { card: 'bank_debit_succeeds' })).toThrow(/does not allow/);
  });

  test('a deleted customer cannot pay', async () => {
    await stripe.customers.del(String(session.customer));
    const response = await postForm(page(), { card: '4242424242424242' });
    expect(response.status).toBe(422);
    expect((await reload()).status).toBe('open');
  });
});

describe('authentication', () => {
  const authentication = async () => {
    const response = await postForm(page(), { card: '4000002760003184' });
    return response.headers.get('location') ?? '';
  };

  test('is asked on a page of its own and completes the session', async () => {
    const url = await authentication();
    expect((await intentNow()).status).toBe('requires_action');
    const text = await (await fetch(url)).text();
    expect(text).toContain('Complete authentication');
    expect(text).toContain('$50.00');
    const done = await postForm(url, { answer: 'complete' });
    expect(done.headers.get('location')).toBe(`http://shop.example/done?session=${session.id}`);
    expect(await reload()).toMatchObject({ status: 'complete', payment_status: 'paid' });
    expect(await eventsSince()).toContain('payment_intent.requires_action');
    const again = await fetch(url, { redirect: 'manual' });
    expect(again.headers.get('location')).toBe(`http://shop.example/done?session=${session.id}`);
  });

  test('that fails leads back to the page with the reason', async () => {
    const failed = await postForm(await authentication(), { answer: 'fail' });
    expect(failed.headers.get('location')).toBe(page());
    expect(await (await fetch(page())).text()).toContain('unable to authenticate');
    expect((await reload()).status).toBe('open');
  });

  test('can be left to choose another card', async () => {
    await authentication();
    await postForm(page(), { card: '4242424242424242' });
    expect(await reload()).toMatchObject({ payment_status: 'paid' });
  });

  test('of a payment without a session leads to its return address', async () => {
    const intent = await stripe.paymentIntents.create({
      amount: 500,
      currency: 'usd',
      payment_method: 'pm_card_authenticationRequired',
      confirm: true,
      return_url: 'http://shop.example/back?a=1',
    });
    const done = await postForm(intent.next_action?.redirect_to_url?.url ?? '', { answer: 'complete' });
    expect(done.headers.get('location')).toBe(
      `http://shop.example/back?a=1&payment_intent=${intent.id}&redirect_status=succeeded`,
    );
  });
});

describe('bank debits', () => {
  test('complete the session unpaid and pay it later', async () => {
    const response = await postForm(page(), { card: 'bank_debit_succeeds' });
    expect(response.status).toBe(303);
    expect(await reload()).toMatchObject({ status: 'complete', payment_status: 'unpaid' });
    expect((await intentNow()).status).toBe('processing');
    expect(await (await fetch(page())).text()).toContain('on its way');
    sandbox.control.settle((await intentNow()).id);
    expect(await reload()).toMatchObject({ payment_status: 'paid' });
    expect(await eventsSince()).toEqual([
      'payment_intent.created',
      'charge.pending',
      'payment_method.attached',
      'payment_intent.processing',
      'checkout.session.completed',
      'charge.succeeded',
      'payment_intent.succeeded',
      'checkout.session.async_payment_succeeded',
    ]);
    expect((await stripe.charges.list({ customer: String(session.customer) })).data).toHaveLength(1);
  });

  test('or are returned', async () => {
    await postForm(page(), { card: 'bank_debit_fails' });
    sandbox.control.settle((await intentNow()).id);
    expect(await reload()).toMatchObject({ status: 'complete', payment_status: 'unpaid' });
    expect((await eventsSince()).slice(-3)).toEqual([
      'charge.failed',
      'payment_intent.payment_failed',
      'checkout.session.async_payment_failed',
    ]);
  });

  test('settle by themselves after the configured time', async () => {
    const other = await start({ settleAfterMs: 1 });
    const client = clientOf(other);
    const { id } = await client.checkout.sessions.create(checkoutParams());
    other.control.pay(id, { card: 'bank_debit_succeeds' });
    await expect.poll(async () => (await client.checkout.sessions.retrieve(id)).payment_status).toBe('paid');
    await other.close();
  });
});

describe('expiry', () => {
  test('by the merchant ends the page', async () => {
    const expired = await stripe.checkout.sessions.expire(session.id);
    expect(expired).toMatchObject({ status: 'expired', url: null });
    const response = await fetch(page());
    expect(response.status).toBe(410);
    expect(await response.text()).toContain('expired');
    expect((await postForm(page(), { card: '4242424242424242' })).status).toBe(410);
    expect((await failureOf(stripe.checkout.sessions.expire(session.id))).statusCode).toBe(400);
    expect(await eventsSince()).toEqual(['checkout.session.expired']);
  });

  test('is the only way to cancel the intent of an open session', async () => {
    await postForm(page(), { card: '4000000000000002' });
    const { id } = await intentNow();
    expect((await failureOf(stripe.paymentIntents.cancel(id))).statusCode).toBe(400);
    await stripe.checkout.sessions.expire(session.id);
    expect((await intentNow()).status).toBe('canceled');
  });

  test('by time, which cancels an intent that was tried', async () => {
    await postForm(page(), { card: '4000000000000002' });
    time = new Date(time.getTime() + 24 * HOUR * 1000);
    expect(await reload()).toMatchObject({ status: 'expired', payment_intent: { status: 'canceled' } });
    expect((await eventsSince()).slice(-2)).toEqual(['payment_intent.canceled', 'checkout.session.expired']);
  });
});

test('sessions are listed by customer and status', async () => {
  const customer = String(session.customer);
  const second = await stripe.checkout.sessions.create(checkoutParams(customer));
  sandbox.control.pay(session.id, { card: '4242424242424242' });
  const ids = async (status: 'open' | 'complete') =>
    (await stripe.checkout.sessions.list({ customer, status })).data.map(({ id }) => id);
  expect(await ids('open')).toEqual([second.id]);
  expect(await ids('complete')).toEqual([session.id]);
});
