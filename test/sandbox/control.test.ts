import { request } from 'node:http';
import type Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import {
  chargeSaved,
  checkoutParams,
  clientOf,
  failureOf,
  postForm,
  postJson,
  type Receiver,
  start,
  startReceiver,
  WEBHOOK_SECRET,
} from './support.ts';

let sandbox: Sandbox;
let stripe: Stripe;
let receiver: Receiver;
let customer: string;
let card: string;

beforeAll(async () => {
  receiver = await startReceiver();
  sandbox = await start({ webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }] });
  stripe = clientOf(sandbox);
});
beforeEach(async () => {
  customer = (await stripe.customers.create({ email: 'c@example.com' })).id;
  card = sandbox.control.saveCard(customer, '4242424242424242').id;
});
afterAll(async () => {
  await sandbox.close();
  await receiver.close();
});

const control = async (
  path: string,
  body?: unknown,
): Promise<{ status: number; json: Record<string, never> }> => {
  const url = `${sandbox.url}/_sandbox/${path}`;
  const response = body === undefined ? await fetch(url) : await postJson(url, body);
  return { status: response.status, json: (await response.json()) as Record<string, never> };
};
const pay = () => stripe.paymentIntents.create(chargeSaved(customer, card));

describe('over HTTP', () => {
  test('pays and expires checkouts, authenticates and settles payments', async () => {
    const open = async () => (await stripe.checkout.sessions.create(checkoutParams(customer))).id;
    const question = (await control(`checkout/${await open()}/pay`, { card: '4000002760003184' })).json;
    expect(question).toMatchObject({ status: 'requires_action' });
    const answered = await control(`payments/${question.id}/authenticate`, { confirmed: true });
    expect(answered.json).toMatchObject({ status: 'succeeded' });
    const ending = { card: '4242424242424242', exp_month: 2, exp_year: 2027 };
    const paid = (await control(`checkout/${await open()}/pay`, ending)).json;
    expect(await stripe.paymentMethods.retrieve(String(paid.payment_method))).toMatchObject({
      card: { exp_month: 2, exp_year: 2027 },
    });
    expect((await control(`checkout/${await open()}/pay`, { ...ending, exp_month: 13 })).status).toBe(400);

    const debit = (await control(`checkout/${await open()}/pay`, { card: 'bank_debit_succeeds' })).json;
    expect((await control(`payments/${debit.id}/settle`, { outcome: 'failed' })).json).toMatchObject({
      status: 'requires_payment_method',
    });
    expect((await control(`checkout/${await open()}/expire`, {})).json).toMatchObject({ status: 'expired' });
  });

  test('refunds, disputes and warns', async () => {
    const [a, b] = [await pay(), await pay()];
    const refund = (await control(`payments/${a.id}/refund`, { amount: 500, outcome: 'pending' })).json;
    expect(refund).toMatchObject({ status: 'pending', amount: 500 });
    expect((await control(`refunds/${refund.id}/settle`, { outcome: 'failed' })).json).toMatchObject({
      status: 'failed',
    });
    const dispute = (await control(`payments/${a.id}/dispute`, { reason: 'duplicate' })).json;
    expect(dispute).toMatchObject({ reason: 'duplicate', status: 'needs_response' });
    expect((await control(`disputes/${dispute.id}/win`, {})).json).toMatchObject({ status: 'won' });
    const lost = (await control(`payments/${b.id}/dispute`, {})).json;
    expect((await control(`disputes/${lost.id}/lose`, {})).json).toMatchObject({ status: 'lost' });
    const appealed = (await control(`disputes/${lost.id}/appeal`, {})).json;
    expect(appealed).toMatchObject({ status: 'appeal_under_review' });
    const won = (await control(`disputes/${lost.id}/win`, { amount: 100 })).json;
    expect(won).toMatchObject({ balance_transactions: [{ amount: -2000 }, { amount: 100 }] });
    expect((await control(`payments/${b.latest_charge}/warn`, {})).json).toMatchObject({
      payment_intent: b.id,
    });
  });

  test('saves, renews and detaches cards, and deletes customers', async () => {
    const saved = (await control(`customers/${customer}/cards`, { card: '5555555555554444' })).json;
    expect(saved).toMatchObject({ customer, card: { last4: '4444' } });
    const renewed = await control(`payment_methods/${saved.id}/renew`, {
      exp_month: 3,
      exp_year: 2040,
      card: '4242424242424242',
    });
    expect(renewed.json).toMatchObject({
      id: saved.id,
      card: { exp_month: 3, exp_year: 2040, last4: '4242' },
    });
    const [event] = (await stripe.events.list({ limit: 1 })).data;
    expect(event).toMatchObject({
      type: 'payment_method.automatically_updated',
      data: { previous_attributes: { card: { last4: '4444' } } },
    });
    expect((await control(`payment_methods/${saved.id}/detach`, {})).json).toMatchObject({ customer: null });
    expect((await control(`customers/${customer}/delete`, {})).json).toMatchObject({ deleted: true });
    expect((await failureOf(pay())).code).toBe('resource_missing');
  });

  test('tells where events go, and no secret', async () => {
    expect((await control('endpoints')).json).toEqual([receiver.url]);
  });

  test('lists deliveries, sends one again and waits until idle', async () => {
    await pay();
    expect((await control('idle')).json).toEqual({ idle: true });
    const deliveries = (await control('deliveries')).json as unknown as Array<{ id: string; event: string }>;
    const last = deliveries.at(-1);
    const before = receiver.received.length;
    expect((await control(`deliveries/${last?.id}/redeliver`, {})).json).toMatchObject({
      status: 'delivered',
    });
    expect(receiver.received.slice(before).map(({ event }) => event.id)).toEqual([last?.event]);
  });

  test('says when it is not idle in time', async () => {
    await control('faults', { effect: 'delay', event: 'customer.created', ms: 500 });
    await stripe.customers.create({});
    expect((await control('idle?timeout_ms=1')).json).toEqual({ idle: false });
    expect((await control('idle')).json).toEqual({ idle: true });
  });

  test('queues, lists and clears faults, and releases what was held', async () => {
    expect((await control('faults', { effect: 'fail_500', path: '/v1/charges*' })).json).toMatchObject([
      { effect: 'fail_500', path: '/v1/charges*', method: '*', count: 1, skip: 0 },
    ]);
    expect((await control('faults', { effect: 'nonsense' })).status).toBe(400);
    await fetch(`${sandbox.url}/_sandbox/faults`, { method: 'DELETE' });
    expect((await control('faults')).json).toEqual([]);
    await control('faults', { effect: 'reorder', event: 'customer.created' });
    await stripe.customers.create({});
    expect((await control('release', { order: 'created' })).json).toMatchObject([
      { type: 'customer.created', status: 'delivered' },
    ]);
  });

  test.each([
    ['payments/pi_nothing/refund', {}, 404],
    ['payments/pi_nothing/refund', { amount: 'much' }, 400],
    ['payments/pi_nothing/refund', { colour: 'red' }, 400],
    ['checkout/cs_nothing/pay', {}, 400],
    ['nothing', {}, 404],
  ])('%s %o is %i', async (path, body, status) => {
    expect((await control(path, body)).status).toBe(status);
  });
});

describe('is closed', () => {
  test('to pages of other websites', async () => {
    const url = `${sandbox.url}/_sandbox/customers/${customer}/delete`;
    for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }] as Array<
      Record<string, string>
    >) {
      expect((await postJson(url, {}, headers)).status).toBe(403);
    }
    expect((await postForm(url, { x: '1' })).status).toBe(400);
    expect(await stripe.customers.retrieve(customer)).not.toHaveProperty('deleted');
  });

  test('to host names that an attacker points at this machine', async () => {
    const status = await new Promise((resolve, reject) => {
      const call = request(`${sandbox.url}/_sandbox/deliveries`, { headers: { host: 'evil.example' } });
      call.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
      call.end();
    });
    expect(status).toBe(403);
  });

  test('when the sandbox listens on more than loopback', async () => {
    const open = await start({ host: '0.0.0.0' });
    const url = `http://127.0.0.1:${open.port}`;
    expect((await fetch(`${url}/_sandbox/deliveries`)).status).toBe(403);
    expect((await fetch(`${url}/`)).status).toBe(404);
    expect((await clientOf(open).customers.list()).data).toEqual([]);
    await open.close();
  });
});

describe('the dashboard', () => {
  test('shows payments, open pages and deliveries, escaped', async () => {
    await stripe.customers.update(customer, { email: '<i>x</i>@example.com' });
    const intent = await pay();
    const session = await stripe.checkout.sessions.create(checkoutParams(customer));
    const text = await (await fetch(`${sandbox.url}/`)).text();
    expect(text).toContain(intent.id);
    expect(text).toContain(session.url);
    expect(text).toContain('payment_intent.succeeded');
    expect(text).toContain('&lt;i&gt;x&lt;/i&gt;');
    expect(text).not.toMatch(/<i>|<script/);
  });

  test('refunds, disputes and decides disputes', async () => {
    const intent = await pay();
    const post = (fields: Record<string, string>) => postForm(`${sandbox.url}/`, fields);
    expect((await post({ action: 'refund', id: intent.id, amount: '12.50' })).status).toBe(303);
    expect((await stripe.refunds.list({ payment_intent: intent.id })).data).toMatchObject([{ amount: 1250 }]);
    expect((await post({ action: 'refund', id: intent.id, amount: 'all' })).status).toBe(422);
    expect((await post({ action: 'dispute', id: intent.id })).status).toBe(303);
    const disputes = () => stripe.disputes.list({ payment_intent: intent.id });
    const [dispute] = (await disputes()).data;
    expect((await post({ action: 'win', id: dispute?.id ?? '' })).status).toBe(303);
    expect((await disputes()).data).toMatchObject([{ status: 'won' }]);
    expect((await post({ action: 'lose', id: dispute?.id ?? '' })).status).toBe(422);
    expect((await post({ action: 'warn', id: intent.id })).status).toBe(303);
    expect((await post({ action: 'sing', id: intent.id })).status).toBe(422);
  });

  test('refuses a form from another website', async () => {
    const intent = await pay();
    const headers = { origin: 'https://evil.example' };
    expect((await postForm(`${sandbox.url}/`, { action: 'refund', id: intent.id }, headers)).status).toBe(
      403,
    );
    expect((await stripe.refunds.list({ payment_intent: intent.id })).data).toEqual([]);
  });
});
