import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Stripe from 'stripe';
import { afterEach, describe, expect, test } from 'vitest';
import type { Sandbox } from '../../sandbox/server.ts';
import {
  chargeSaved,
  clientOf,
  closed,
  failureOf,
  listening,
  type Receiver,
  start,
  startReceiver,
  WEBHOOK_SECRET,
} from './support.ts';

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function setUp(
  options: Parameters<typeof start>[0] = {},
): Promise<{ sandbox: Sandbox; receiver: Receiver }> {
  const receiver = await startReceiver();
  const sandbox = await start({ webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }], ...options });
  cleanups.push(receiver.close, sandbox.close);
  return { sandbox, receiver };
}

test('an event is a signed snapshot that names its request', async () => {
  const { sandbox, receiver } = await setUp();
  const stripe = clientOf(sandbox);
  const customer = await stripe.customers.create({ email: 'old@example.com' }, { idempotencyKey: 'key-1' });
  await stripe.customers.update(customer.id, { email: 'new@example.com' });
  await sandbox.control.idle();

  const created = receiver.received.find(({ event }) => event.type === 'customer.created');
  expect(created?.event).toMatchObject({
    object: 'event',
    api_version: '2026-10-28.endive',
    livemode: false,
    request: { id: customer.lastResponse.requestId, idempotency_key: 'key-1' },
    data: { object: { id: customer.id, email: 'old@example.com' } },
  });
  expect(created?.signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  const updated = receiver.received.find(({ event }) => event.type === 'customer.updated');
  expect(updated?.event.data).toMatchObject({
    object: { email: 'new@example.com' },
    previous_attributes: { email: 'old@example.com' },
  });
  const wrongSecret = () =>
    Stripe.webhooks.constructEvent(created?.body ?? '', created?.signature ?? '', 'whsec_other');
  expect(wrongSecret).toThrow(/signature/);
});

test('an event is retried until it is accepted', async () => {
  const { sandbox, receiver } = await setUp();
  receiver.answerWith(500, 404, 301);
  await clientOf(sandbox).customers.create({});
  await sandbox.control.idle();
  expect(receiver.types()).toEqual(['customer.created']);
  const [delivery] = sandbox.control.deliveries();
  expect(delivery).toMatchObject({ status: 'delivered', type: 'customer.created' });
  expect(delivery?.attempts.map(({ status }) => status)).toEqual([500, 404, 301, 200]);
});

test('an event that is never accepted finally fails and can be resent manually', async () => {
  const { sandbox, receiver } = await setUp();
  receiver.answerWith(500, 500, 500, 500);
  await clientOf(sandbox).customers.create({});
  await sandbox.control.idle();
  const [delivery] = sandbox.control.deliveries();
  expect(delivery?.status).toBe('failed');
  expect((await sandbox.control.redeliver(delivery?.id ?? '')).status).toBe('delivered');
  expect(receiver.types()).toEqual(['customer.created']);
});

test('an endpoint that answers late has not accepted the event', async () => {
  const silent = createServer(() => undefined);
  const url = await listening(silent);
  cleanups.push(() => closed(silent));
  const { sandbox } = await setUp({
    webhooks: [{ url, secret: WEBHOOK_SECRET }],
    webhookTimeoutMs: 20,
    retryDelaysMs: [1],
  });
  await clientOf(sandbox).customers.create({});
  await sandbox.control.idle();
  const [delivery] = sandbox.control.deliveries();
  expect(delivery).toMatchObject({ status: 'failed', attempts: [{ status: null }, { status: null }] });
});

test('undelivered events are sent after a restart', async () => {
  const stateDir = await mkdtemp(join(tmpdir(), 'sandbox-'));
  cleanups.push(() => rm(stateDir, { recursive: true }));
  const receiver = await startReceiver();
  cleanups.push(receiver.close);
  const options = { stateDir, webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }] };

  receiver.answerWith(503);
  const first = await start({ ...options, retryDelaysMs: [3_600_000] });
  await clientOf(first).customers.create({ email: 'kept@example.com' });
  await expect.poll(() => first.control.deliveries()[0]?.attempts.length).toBe(1);
  await first.close();
  expect(receiver.received).toEqual([]);

  const second = await start(options);
  cleanups.push(second.close);
  await second.control.idle();
  expect(receiver.types()).toEqual(['customer.created']);
});

describe('endpoints', () => {
  test('made through the API get the events they subscribe to, until deleted', async () => {
    const { sandbox } = await setUp();
    const stripe = clientOf(sandbox);
    const { id: customer } = await stripe.customers.create({});
    const placeholder = await startReceiver('not used');
    const endpoint = await stripe.webhookEndpoints.create({
      url: placeholder.url,
      enabled_events: ['payment_intent.succeeded', 'invoice.paid'],
      api_version: '2026-09-30.dahlia' as never,
    });
    await placeholder.close();
    expect(endpoint.secret).toMatch(/^whsec_\w{32}$/);
    const listed = (await stripe.webhookEndpoints.list()).data;
    expect(listed).toHaveLength(2);
    expect(JSON.stringify(listed)).not.toContain('whsec_');

    await stripe.paymentIntents.create(
      chargeSaved(customer, sandbox.control.saveCard(customer, '4242424242424242').id),
    );
    const sent = sandbox.control.deliveries().filter((delivery) => delivery.endpoint === endpoint.id);
    expect(sent.map(({ type }) => type)).toEqual(['payment_intent.succeeded']);

    expect(await stripe.webhookEndpoints.del(endpoint.id)).toMatchObject({ deleted: true });
    expect((await failureOf(stripe.webhookEndpoints.del(endpoint.id))).statusCode).toBe(404);
    const [given] = (await stripe.webhookEndpoints.list()).data;
    expect((await failureOf(stripe.webhookEndpoints.del(given?.id ?? ''))).statusCode).toBe(400);
  });

  test('have their own secret and their own API version', async () => {
    const other = await startReceiver('whsec_second');
    cleanups.push(other.close);
    const receiver = await startReceiver();
    cleanups.push(receiver.close);
    const { sandbox } = await setUp({
      webhooks: [
        { url: receiver.url, secret: WEBHOOK_SECRET },
        { url: other.url, secret: 'whsec_second', apiVersion: '2026-09-30.dahlia' },
        { url: `${other.url}/deleted`, secret: 'whsec_second', enabledEvents: ['customer.deleted'] },
      ],
    });
    await clientOf(sandbox).customers.create({});
    await sandbox.control.idle();
    expect(receiver.received.map(({ event }) => event.api_version)).toEqual(['2026-10-28.endive']);
    expect(other.received.map(({ event }) => event.api_version)).toEqual(['2026-09-30.dahlia']);
  });
});

test('events are listed newest first, by type and time', async () => {
  const { sandbox } = await setUp();
  const stripe = clientOf(sandbox);
  const { id } = await stripe.customers.create({});
  await stripe.customers.update(id, { name: 'x' });
  await stripe.paymentIntents.create({ amount: 500, currency: 'usd', customer: id });
  const all = await stripe.events.list({ limit: 2 });
  expect(all.data.map(({ type }) => type)).toEqual(['payment_intent.created', 'customer.updated']);
  expect(all.has_more).toBe(true);
  const rest = await stripe.events.list({ starting_after: all.data[1]!.id });
  expect(rest.data.map(({ type }) => type)).toEqual(['customer.created']);
  const types = await stripe.events.list({
    types: ['customer.created', 'customer.deleted'],
    created: { gte: 1 },
  });
  expect(types.data.map(({ type }) => type)).toEqual(['customer.created']);
  expect((await stripe.events.list({ type: 'customer.*' })).data).toHaveLength(2);
  await sandbox.control.idle();
  expect(await stripe.events.retrieve(types.data[0]!.id)).toMatchObject({ pending_webhooks: 0 });
});
