import { beforeAll, describe, expect, test } from 'vitest';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { expectError, expectOk, NOT_INTEGERS, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
});

const post = (body: unknown, key = tenant.key) => app.request('POST', '/v1/billing/checkout', { key, body });
const failProvider = (effect: 'fail_500' | 'rate_limit_429' | 'truncate_body', count: number) =>
  app.sandbox.control.fault({ effect, path: '/v1/checkout/sessions', count });

describe('POST /v1/billing/checkout', () => {
  describe('200', () => {
    test.each([1000, 1001, 999_999, 1_000_000])(
      'opens a page for %d cents, and credits nothing yet',
      async (cents) => {
        const body = expectOk(await post({ amount_cents: cents }));
        expect(body).toStrictEqual({
          checkout_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/.*cs_test_/),
        });
        const session = await app.stripe.checkout.sessions.retrieve(
          /cs_test_\w+/.exec(body.checkout_url)![0],
        );
        expect(session.amount_total).toBe(cents);
        expect(session.currency).toBe('usd');
        expect(expectOk(await app.request('GET', '/v1/billing', { key: tenant.key })).balance.micros).toBe(0);
      },
    );

    test.each(['pending', 'active', 'suspended'] as const)(
      'works for a tenant that is %s',
      async (status) => {
        const fresh = await app.signUp();
        await setStatus(app, fresh, status);
        expectOk(await post({ amount_cents: 1000 }, fresh.key));
      },
    );

    test('a payment to a suspended tenant adds credit and changes nothing else', async () => {
      const fresh = await app.paidTenant({ cents: 1000 });
      await setStatus(app, fresh, 'suspended');
      await app.pay(fresh, { cents: 1500 });
      await setStatus(app, fresh, 'active');
      const { balance } = expectOk(await app.request('GET', '/v1/billing', { key: fresh.key }));
      expect(balance.micros).toBe(25_000_000);
    });
  });

  describe('400', () => {
    test.each([
      [undefined, 'body must be object'],
      [null, 'body must be object'],
      [{}, 'amount_cents is required'],
      [{ amount_cents: -1 }, 'amount_cents must be >= 1000'],
      [{ amount_cents: 0 }, 'amount_cents must be >= 1000'],
      [{ amount_cents: 1 }, 'amount_cents must be >= 1000'],
      [{ amount_cents: 999 }, 'amount_cents must be >= 1000'],
      [{ amount_cents: 1_000_001 }, 'amount_cents must be <= 1000000'],
      [{ amount_cents: 2 ** 53 - 1 }, 'amount_cents must be <= 1000000'],
      [{ amount_cents: 1000, currency: 'eur' }, 'currency is not a known field'],
    ])('refuses the body %j', async (body, what) => {
      expectError(await post(body), 400, `invalid request: ${what}`);
    });

    test.each(NOT_INTEGERS)('refuses the amount %j', async (amount_cents) => {
      expectError(await post({ amount_cents }), 400, 'invalid request: amount_cents must be integer');
    });

    test('comes before the status of the tenant', async () => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, 'deleted');
      expectError(
        await post({ amount_cents: 1 }, fresh.key),
        400,
        'invalid request: amount_cents must be >= 1000',
      );
    });
  });

  describe('401', () => {
    test('refuses a relay key before it reads the body', async () => {
      const raw = '{';
      expectError(
        await app.request('POST', '/v1/billing/checkout', { key: tenant.relayKey, raw }),
        401,
        'invalid api key',
      );
    });
  });

  describe('403', () => {
    test.each(['archived', 'deleted'] as const)('refuses a tenant that is %s', async (status) => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, status);
      expectError(await post({ amount_cents: 1000 }, fresh.key), 403, 'tenant is not active');
    });
  });

  describe('502', () => {
    test.each(['fail_500', 'rate_limit_429', 'truncate_body'] as const)(
      'has its own message for the provider failure %s',
      async (effect) => {
        const fresh = await app.signUp();
        failProvider(effect, 2);
        const answer = await post({ amount_cents: 1000 }, fresh.key);
        app.sandbox.control.clearFaults();
        expectError(answer, 502, answer.json.error);
        expect(answer.json.error).toMatch(/\w{3,}/);
        expect(answer.json.error).not.toMatch(/sk_test|127\.0\.0\.1|node_modules|internal error/);
        expectOk(await post({ amount_cents: 1000 }, fresh.key));
      },
    );
  });

  describe('503', () => {
    const poor = useService({ payments: false });

    test('payments are not configured; client errors come first', async () => {
      const fresh = await poor.signUp();
      const send = (body: unknown, key = fresh.key) =>
        ask(`${poor.url}/v1/billing/checkout`, 'POST', { key, body });
      const message = 'payments are not configured on this deployment';
      expectError(await send({ amount_cents: 1000 }), 503, message);
      expectError(await send({ amount_cents: 1 }), 400, 'invalid request: amount_cents must be >= 1000');
      expectError(await send({ amount_cents: 1000 }, fresh.relayKey), 401, 'invalid api key');
      await setStatus(poor, fresh, 'archived');
      expectError(await send({ amount_cents: 1000 }), 403, 'tenant is not active');
    });
  });
});
