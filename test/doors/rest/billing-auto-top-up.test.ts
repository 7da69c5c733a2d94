import { beforeAll, describe, expect, test } from 'vitest';
import { type TestTenant, useService } from '../../support/service.ts';
import { TIMESTAMP } from '../../support/timestamp.ts';
import { amount, expectError, expectOk, NOT_BOOLEANS, NOT_INTEGERS, setStatus } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const put = (body: unknown, key = tenant.key) => app.request('PUT', '/v1/billing/auto-top-up', { key, body });
const off = { enabled: false };
const on = { enabled: true, below_cents: 500, amount_cents: 1000 };
/** The largest number of cents whose micros are still a safe integer. */
const CENTS_SAFE_MAX = 900_719_925_474;

describe('PUT /v1/billing/auto-top-up', () => {
  describe('200', () => {
    test('answers with the tenant, as GET /v1/billing shows it', async () => {
      const body = expectOk(await put(on));
      expect(body).toStrictEqual({
        id: tenant.id,
        name: 'Ada Video',
        email: 'ada@example.com',
        status: 'active',
        has_card: true,
        auto_top_up: { enabled: true, below: amount(5_000_000), amount: amount(10_000_000) },
        created_at: expect.stringMatching(TIMESTAMP),
      });
      expect(expectOk(await app.request('GET', '/v1/billing', { key: tenant.key })).tenant).toStrictEqual(
        body,
      );
    });

    test.each([
      [{ below_cents: 0 }, [0, 1000]],
      [{ below_cents: 1 }, [1, 1000]],
      [{ below_cents: CENTS_SAFE_MAX }, [CENTS_SAFE_MAX, 1000]],
      [{ amount_cents: 1001 }, [500, 1001]],
      [{ amount_cents: 999_999 }, [500, 999_999]],
      [{ amount_cents: 1_000_000 }, [500, 1_000_000]],
    ])('enabled with %j', async (fields, [below, cents]) => {
      const fresh = await app.paidTenant();
      expect(expectOk(await put({ ...on, ...fields }, fresh.key)).auto_top_up).toStrictEqual({
        enabled: true,
        below: amount(below! * 10_000),
        amount: amount(cents! * 10_000),
      });
    });

    test('when turned off, omitted amounts keep their values', async () => {
      expectOk(await put(on));
      const values = { below: amount(5_000_000), amount: amount(10_000_000) };
      expect(expectOk(await put(off)).auto_top_up).toStrictEqual({ enabled: false, ...values });
      expect(expectOk(await put({ ...off, below_cents: 0 })).auto_top_up).toStrictEqual({
        enabled: false,
        ...values,
        below: amount(0),
      });
    });

    test.each([0, 1, 999, 1_000_001, CENTS_SAFE_MAX])(
      'turned off, an amount of %d cents is kept for later',
      async (cents) => {
        const body = expectOk(await put({ ...off, amount_cents: cents }));
        expect(body.auto_top_up).toMatchObject({ enabled: false, amount: amount(cents * 10_000) });
      },
    );

    test('a tenant that never paid may turn it off', async () => {
      const fresh = await app.signUp();
      expect(expectOk(await put(off, fresh.key))).toMatchObject({ status: 'pending', has_card: false });
    });
  });

  describe('400', () => {
    test.each([
      [undefined, 'body must be object'],
      [null, 'body must be object'],
      [{}, 'enabled is required'],
      [{ below_cents: 1, amount_cents: 1000 }, 'enabled is required'],
      [{ enabled: true, amount_cents: 1000 }, 'below_cents is required'],
      [{ enabled: true, below_cents: 1 }, 'amount_cents is required'],
      [{ ...on, below_cents: -1 }, 'below_cents must be >= 0'],
      [{ ...on, below_cents: CENTS_SAFE_MAX + 1 }, `below_cents must be <= ${CENTS_SAFE_MAX}`],
      [{ ...on, below_cents: 2 ** 53 - 1 }, `below_cents must be <= ${CENTS_SAFE_MAX}`],
      [{ ...on, amount_cents: -1 }, 'amount_cents must be >= 0'],
      [{ ...on, amount_cents: 0 }, 'amount_cents must be >= 1000'],
      [{ ...on, amount_cents: 1 }, 'amount_cents must be >= 1000'],
      [{ ...on, amount_cents: 999 }, 'amount_cents must be >= 1000'],
      [{ ...on, amount_cents: 1_000_001 }, 'amount_cents must be <= 1000000'],
      [{ ...on, amount: 1 }, 'amount is not a known field'],
      [{ ...off, below_cents: -1 }, 'below_cents must be >= 0'],
      [{ ...off, amount_cents: -1 }, 'amount_cents must be >= 0'],
      [{ ...off, amount_cents: 2 ** 53 - 1 }, `amount_cents must be <= ${CENTS_SAFE_MAX}`],
    ])('refuses the body %j', async (body, what) => {
      expectError(await put(body), 400, `invalid request: ${what}`);
    });

    test.each(NOT_BOOLEANS)('refuses enabled %j', async (enabled) => {
      expectError(await put({ ...on, enabled }), 400, 'invalid request: enabled must be boolean');
    });

    describe.each(['below_cents', 'amount_cents'])('%s', (field) => {
      test.each(NOT_INTEGERS)('refuses %j', async (value) => {
        expectError(await put({ ...on, [field]: value }), 400, `invalid request: ${field} must be integer`);
        expectError(await put({ ...off, [field]: value }), 400, `invalid request: ${field} must be integer`);
      });
    });

    test('is not turned on without a saved card', async () => {
      const fresh = await app.signUp();
      expectError(await put(on, fresh.key), 400, 'invalid request: no saved card: pay a checkout first');
      const { tenant: shown } = expectOk(await app.request('GET', '/v1/billing', { key: fresh.key }));
      expect(shown.auto_top_up).toStrictEqual({ enabled: false, below: amount(0), amount: amount(0) });
    });

    test('comes before the status of the tenant, which comes before whether it has a card', async () => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, 'suspended');
      expectError(
        await put({ ...on, amount_cents: 1 }, fresh.key),
        400,
        'invalid request: amount_cents must be >= 1000',
      );
      expectError(await put(on, fresh.key), 403, 'tenant is not active');
    });

    test('changes nothing', async () => {
      const before = expectOk(await put(off));
      expectError(
        await put({ ...on, amount_cents: 999 }),
        400,
        'invalid request: amount_cents must be >= 1000',
      );
      expect(expectOk(await app.request('GET', '/v1/billing', { key: tenant.key })).tenant).toStrictEqual(
        before,
      );
    });
  });

  describe('401', () => {
    test('refuses a relay key', async () => {
      expectError(await put(on, tenant.relayKey), 401, 'invalid api key');
    });
  });

  describe('403', () => {
    test.each(['suspended', 'archived', 'deleted'] as const)(
      'refuses a tenant that is %s',
      async (status) => {
        const fresh = await app.paidTenant();
        await setStatus(app, fresh, status);
        expectError(await put(off, fresh.key), 403, 'tenant is not active');
      },
    );
  });
});
