import type Stripe from 'stripe';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import { chargeSaved, clientOf, failureOf, postForm, start } from './support.ts';

let sandbox: Sandbox;
let stripe: Stripe;
let customer: string;
let card: string;
let url: string;
let time = new Date('2026-06-01T00:00:00Z');

beforeAll(async () => {
  sandbox = await start({ clock: () => time });
  stripe = clientOf(sandbox);
});
beforeEach(async () => {
  customer = (await stripe.customers.create({ email: '<b>bold</b>@example.com' })).id;
  card = sandbox.control.saveCard(customer, '4242424242424242').id;
  const session = await stripe.billingPortal.sessions.create({
    customer,
    return_url: 'http://shop.example/billing',
  });
  url = session.url;
});
afterAll(() => sandbox.close());

const text = async () => (await fetch(url)).text();
const cards = async () => (await stripe.paymentMethods.list({ customer })).data;
const lastEvents = async (limit: number) =>
  (await stripe.events.list({ limit })).data.map(({ type }) => type);

test('shows receipts, saved cards and the way back', async () => {
  const paid = await stripe.paymentIntents.create({
    ...chargeSaved(customer, card, 12_345),
    description: 'Top-up <1>',
  });
  await stripe.refunds.create({ payment_intent: paid.id, amount: 345 });
  const page = await text();
  expect(page).toContain('&lt;b&gt;bold&lt;/b&gt;@example.com');
  expect(page).toContain('Top-up &lt;1&gt;');
  expect(page).toContain('$123.45');
  expect(page).toContain('$3.45');
  expect(page).toContain('href="http://shop.example/billing"');
  expect(page).toContain('expires 12/2031');
  expect(page).not.toContain('<script');
});

test('removes a card, and says so', async () => {
  const response = await postForm(url, { action: 'remove', card_id: card });
  expect(response.status).toBe(303);
  expect(await cards()).toEqual([]);
  const [event] = (await stripe.events.list({ limit: 1 })).data;
  expect(event).toMatchObject({
    type: 'payment_method.detached',
    data: { object: { id: card, customer: null }, previous_attributes: { customer } },
  });
  expect(await text()).toContain('No card is saved.');
  expect((await failureOf(stripe.paymentIntents.create(chargeSaved(customer, card)))).statusCode).toBe(400);
});

test('does not remove a card of another customer', async () => {
  const { id } = await stripe.customers.create({});
  const foreign = sandbox.control.saveCard(id, '4242424242424242').id;
  expect((await postForm(url, { action: 'remove', card_id: foreign })).status).toBe(422);
  expect((await stripe.paymentMethods.retrieve(foreign)).customer).toBe(id);
});

test('adds a card and makes it the default', async () => {
  expect((await postForm(url, { action: 'add', card: '5555555555554444' })).status).toBe(303);
  const [added, first] = await cards();
  expect(added?.card?.last4).toBe('4444');
  expect(first?.id).toBe(card);
  const { invoice_settings } = (await stripe.customers.retrieve(customer)) as Stripe.Customer;
  expect(invoice_settings.default_payment_method).toBe(added?.id);
  expect(await lastEvents(2)).toEqual(['customer.updated', 'payment_method.attached']);
  await postForm(url, { action: 'default', card_id: card });
  expect(
    ((await stripe.customers.retrieve(customer)) as Stripe.Customer).invoice_settings.default_payment_method,
  ).toBe(card);
});

test('replaces a card', async () => {
  await postForm(url, { action: 'add', card_number: '5555555555554444', replace: card });
  expect((await cards()).map(({ card: details }) => details?.last4)).toEqual(['4444']);
});

test.each(['4000000000000002', 'bank_debit_succeeds', '1234'])('does not save %s', async (number) => {
  expect((await postForm(url, { action: 'add', card: number })).status).toBe(422);
  expect((await cards()).map(({ id }) => id)).toEqual([card]);
});

test('saves a card that will be declined later', async () => {
  await postForm(url, { action: 'add', card: '4000000000000341' });
  const [added] = await cards();
  const error = await failureOf(stripe.paymentIntents.create(chargeSaved(customer, added?.id ?? '')));
  expect(error.code).toBe('card_declined');
});

test('a link that asks for a new card redirects once there is one', async () => {
  const session = await stripe.billingPortal.sessions.create({
    customer,
    return_url: 'http://shop.example/billing',
    flow_data: {
      type: 'payment_method_update',
      after_completion: { type: 'redirect', redirect: { return_url: 'http://shop.example/thanks' } },
    },
  });
  expect(session.flow).toMatchObject({ type: 'payment_method_update' });
  url = session.url;
  expect(await text()).toMatch(/<details class="panel" open>/);
  const response = await postForm(url, { action: 'add', card: '5555555555554444' });
  expect(response.headers.get('location')).toBe('http://shop.example/thanks');
});

test('a link stops working after half an hour, and when the customer is deleted', async () => {
  const other = (await stripe.billingPortal.sessions.create({ customer })).url;
  time = new Date(time.getTime() + 30 * 60 * 1000 - 1000);
  expect((await fetch(url)).status).toBe(200);
  time = new Date(time.getTime() + 1000);
  expect((await fetch(url)).status).toBe(410);
  expect((await postForm(url, { action: 'remove', card_id: card })).status).toBe(410);
  expect((await fetch(other)).status).toBe(410);

  const fresh = (await stripe.billingPortal.sessions.create({ customer })).url;
  await stripe.customers.del(customer);
  expect((await fetch(fresh)).status).toBe(410);
});

test('a form from another website changes nothing', async () => {
  const headers = { origin: 'https://evil.example' };
  expect((await postForm(url, { action: 'remove', card_id: card }, headers)).status).toBe(403);
  expect(await cards()).toHaveLength(1);
});
