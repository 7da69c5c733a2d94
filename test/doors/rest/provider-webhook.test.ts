import pino from 'pino';
import Stripe from 'stripe';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestTenant, useService } from '../../support/service.ts';
import { expectError, expectOk } from './support.ts';

const secrets = ['whsec_of_before', 'whsec_of_now'];
const lines: string[] = [];
const app = useService({ log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }) });
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
  // The service reads its list of secrets at every provider event, as the test service shares it.
  (app.service.deps.provider!.webhookSecrets as string[]).push(...secrets);
});

const PATH = '/v1/stripe/webhook';
const now = () => Math.floor(Date.now() / 1000);
const sign = (payload: string, { secret = secrets[1]!, timestamp = now() } = {}) =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });

let events = 0;
const event = (fields: Record<string, unknown> = {}) => {
  events += 1;
  return JSON.stringify({
    id: `evt_test_${events}`,
    object: 'event',
    type: 'customer.created',
    livemode: false,
    created: now(),
    data: { object: { id: 'cus_unknown', object: 'customer' } },
    ...fields,
  });
};
const post = (raw: string | Uint8Array, signature?: string, headers: Record<string, string> = {}) =>
  app.request('POST', PATH, {
    raw,
    headers: { ...(signature === undefined ? {} : { 'stripe-signature': signature }), ...headers },
  });
const signed = (payload: string, options?: { secret?: string; timestamp?: number }) =>
  post(payload, sign(payload, options));
const balance = async () =>
  expectOk(await app.request('GET', '/v1/billing', { key: tenant.key })).balance.micros;

const forged = 'invalid request: the signature is not valid';

describe('POST /v1/stripe/webhook', () => {
  describe('200', () => {
    test.each(secrets)('accepts what is signed with any of the secrets: %s', async (secret) => {
      expectOk(await signed(event(), { secret }));
    });

    test('needs no key, and a wrong one does not matter', async () => {
      const payload = event();
      expectOk(await post(payload, sign(payload), { authorization: 'Bearer nonsense' }));
    });

    test('a payment of another system on this account changes nothing', async () => {
      const customer = await app.stripe.customers.create({ email: 'somebody@example.com' });
      const session = await app.stripe.checkout.sessions.create({
        mode: 'payment',
        customer: customer.id,
        client_reference_id: tenant.id,
        line_items: [
          {
            quantity: 1,
            price_data: { currency: 'usd', unit_amount: 5000, product_data: { name: 'A hat' } },
          },
        ],
        metadata: { tenant: tenant.id },
        payment_intent_data: { metadata: { tenant: tenant.id } },
        success_url: 'https://shop.example/',
      });
      app.sandbox.control.pay(session.id, { card: '4242424242424242' });
      await app.settled();
      const attempts = app.sandbox.control.deliveries().flatMap((delivery) => delivery.attempts);
      expect(attempts.length).toBeGreaterThan(0);
      expect(attempts.filter((attempt) => attempt.status !== 200)).toStrictEqual([]);
      expect(await balance()).toBe(0);
    });

    test('irrelevant event types change nothing', async () => {
      for (const type of [
        'customer.created',
        'invoice.paid',
        'of.the.future',
        '__proto__',
        'constructor',
        '',
      ]) {
        expectOk(await signed(event({ type })));
      }
    });

    test.each<[string, Record<string, unknown>]>([
      ['without an object', { type: 'payment_intent.succeeded', data: {} }],
      ['without data', { type: 'refund.created', data: null }],
      ['with null for its object', { type: 'charge.dispute.created', data: { object: null } }],
      ['without a type', { type: undefined }],
      ['whose type is a number', { type: 5 }],
      [
        'of another interface of the provider',
        { object: 'v2.core.event', type: 'refund.failed', data: null },
      ],
      [
        'of a payment without an id',
        { type: 'payment_intent.succeeded', data: { object: { status: 'succeeded', metadata: {} } } },
      ],
      [
        'of a payment without metadata',
        { type: 'payment_intent.canceled', data: { object: { id: 'pi_x', status: 'canceled' } } },
      ],
      ['whose refund has no id', { type: 'refund.created', data: { object: { amount: 12 } } }],
      ['whose refund has a number for an id', { type: 'refund.created', data: { object: { id: 12 } } }],
      [
        'with text that the database cannot store',
        {
          type: 'checkout.session.expired',
          data: { object: { id: 'cs_x', metadata: { checkout: 'co_\u0000' } } },
        },
      ],
    ])('an event %s is parked and logged', async (_, fields) => {
      lines.length = 0;
      const payload = event(fields);
      const { id } = JSON.parse(payload);
      expectOk(await signed(payload));
      const { rows } = await app.service.deps.db.query(
        'select outcome, reason from provider_events where id = $1',
        [id],
      );
      expect(rows).toMatchObject([
        { outcome: 'parked', reason: expect.stringContaining('it cannot be read') },
      ]);
      expect(lines.filter((line) => line.includes(id)).join()).toContain('provider event parked');
      expectOk(await signed(payload));
    });

    test('any content type: only the bytes count', async () => {
      const payload = event();
      for (const type of ['application/json', 'application/json; charset=utf-8', 'text/plain']) {
        expectOk(await post(payload, sign(payload), { 'content-type': type }));
      }
    });
  });

  describe('400', () => {
    test('no signature', async () => {
      expectError(await post(event()), 400, 'invalid request: no signature');
    });

    test('no body', async () => {
      const answer = await app.request('POST', PATH, { headers: { 'stripe-signature': sign('') } });
      expect(answer.status).toBe(400);
      expect(answer.json.error).toMatch(/^invalid request: /);
    });

    test.each([
      '',
      'x',
      't=1,v1=',
      't=,v1=00',
      'v1=00',
      `t=${'9'.repeat(400)},v1=00`,
      't=-1,v1=-1',
      `t=1,${'v1=0,'.repeat(500)}`,
    ])('the signature %j', async (signature) => {
      expectError(await post(event(), signature), 400, forged);
    });

    test('a signature by another secret', async () => {
      expectError(await signed(event(), { secret: 'whsec_of_nobody' }), 400, forged);
    });

    test('a signature over other bytes, even one space', async () => {
      const payload = event();
      expectError(await post(`${payload} `, sign(payload)), 400, forged);
      expectError(
        await post(payload.replace('"livemode":false', '"livemode":true'), sign(payload)),
        400,
        forged,
      );
    });

    test('a signature that is older than five minutes, but not one that is a little younger', async () => {
      expectError(await signed(event(), { timestamp: now() - 302 }), 400, forged);
      expectOk(await signed(event(), { timestamp: now() - 290 }));
    });

    test('a signature from more than five minutes ahead, but not one that is a little nearer', async () => {
      expectError(await signed(event(), { timestamp: now() + 310 }), 400, forged);
      expectOk(await signed(event(), { timestamp: now() + 290 }));
      const payload = event();
      const ahead = sign(payload, { timestamp: now() + 310 });
      expectError(await post(payload, `t=${now()},${ahead}`), 400, forged);
    });

    test('a forged payment credits nothing', async () => {
      const payment = {
        id: 'pi_forged',
        object: 'payment_intent',
        amount_received: 5000,
        metadata: { tenant: tenant.id },
      };
      const payload = event({ type: 'payment_intent.succeeded', data: { object: payment } });
      expectError(await signed(payload, { secret: 'whsec_of_nobody' }), 400, forged);
      expect(await balance()).toBe(0);
    });

    test.each(['{', 'null', '[]', '{}', '"evt"', '1', ''])(
      'well-signed, but not an event: %j',
      async (payload) => {
        const answer = await signed(payload);
        expectError(answer, 400, answer.json?.error);
        expect(answer.json.error).toMatch(/^invalid request: /);
      },
    );

    test('bytes that are not UTF-8', async () => {
      expectError(await post(new Uint8Array([0xff, 0xfe, 0x00]), sign('x')), 400, forged);
    });

    test('a body of more than 1 MiB', async () => {
      const payload = event().padEnd(2 ** 20 + 1, ' ');
      expectError(await signed(payload), 400, 'invalid request: body exceeds 1 MiB');
    });
  });

  describe('503', () => {
    const poor = useService({ payments: false });

    test('payments are not configured', async () => {
      const answer = await poor.request('POST', PATH, { raw: event(), headers: { 'stripe-signature': 'x' } });
      expectError(answer, 503, 'payments are not configured on this deployment');
    });
  });
});
