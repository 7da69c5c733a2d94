import { beforeAll, describe, expect, test } from 'vitest';
import { type TestTenant, useService } from '../../support/service.ts';
import { expectError, expectOk, setStatus } from './support.ts';

const app = useService();
let paid: TestTenant;

beforeAll(async () => {
  paid = await app.paidTenant();
});

const post = (key: string, options: { raw?: string; headers?: Record<string, string> } = {}) =>
  app.request('POST', '/v1/billing/portal', { key, ...options });

describe('POST /v1/billing/portal', () => {
  describe('200', () => {
    test.each([undefined, '', '{}', ' { } '])('opens the portal; body %j', async (raw) => {
      const body = expectOk(await post(paid.key, raw === undefined ? {} : { raw }));
      expect(body).toStrictEqual({ portal_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/./) });
    });
  });

  describe('400', () => {
    test('refuses a tenant that never paid', async () => {
      const fresh = await app.signUp();
      const message = 'invalid request: this tenant has never paid: pay a checkout first';
      expectError(await post(fresh.key), 400, message);
    });

    test.each(['{"a":1}', '[]', 'null', '"{}"', '0'])('refuses the body %s', async (raw) => {
      expectError(await post(paid.key, { raw }), 400, 'invalid request: this route takes no body');
    });

    test('refuses what is not JSON', async () => {
      expectError(await post(paid.key, { raw: '{' }), 400, 'invalid request: the body is not JSON');
      expectError(
        await post(paid.key, { raw: '{}', headers: { 'content-type': 'text/plain' } }),
        400,
        'invalid request: Content-Type must be application/json',
      );
    });

    test('comes before the status of the tenant, which comes before whether it paid', async () => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, 'suspended');
      expectError(await post(fresh.key, { raw: '[]' }), 400, 'invalid request: this route takes no body');
      expectError(await post(fresh.key), 403, 'tenant is not active');
    });
  });

  describe('401', () => {
    test('refuses a relay key', async () => {
      expectError(await post(paid.relayKey, { raw: '[' }), 401, 'invalid api key');
    });
  });

  describe('403', () => {
    test.each(['suspended', 'archived', 'deleted'] as const)(
      'refuses a tenant that is %s',
      async (status) => {
        const fresh = await app.paidTenant();
        await setStatus(app, fresh, status);
        expectError(await post(fresh.key), 403, 'tenant is not active');
      },
    );
  });

  describe('502', () => {
    test("passes on the provider's message", async () => {
      app.sandbox.control.fault({ effect: 'fail_500', path: '/v1/billing_portal/sessions', count: 2 });
      const answer = await post(paid.key);
      app.sandbox.control.clearFaults();
      expectError(answer, 502, answer.json.error);
      expect(answer.json.error).not.toBe('internal error');
    });
  });

  describe('503', () => {
    const poor = useService({ payments: false });

    test('payments are not configured', async () => {
      const fresh = await poor.signUp();
      await poor.service.deps.db.query(
        "update payment_settings set first_paid_at = now(), customer_id = 'cus_of_earlier_days'",
      );
      const answer = await poor.request('POST', '/v1/billing/portal', { key: fresh.key });
      expectError(answer, 503, 'payments are not configured on this deployment');
    });
  });
});
