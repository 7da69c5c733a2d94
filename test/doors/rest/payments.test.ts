import { beforeAll, describe, expect, test } from 'vitest';
import { listPayments } from '../../../src/money/payments/list-payments.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf } from '../../support/tenants.ts';
import { expectError, expectOk, setStatus } from './support.ts';

const app = useService({ checkoutOptions: { tax: true, taxIds: false, invoices: true } });
let tenant: TestTenant;
let other: TestTenant;
/** The oldest first. The first one has tax. */
const payments: string[] = [];

beforeAll(async () => {
  tenant = await app.signUp();
  payments.push((await app.pay(tenant, { cents: 2000 })).payment);
  for (const cents of [1000, 3000, 4000]) {
    payments.push((await app.pay(tenant, { cents, country: 'CH' })).payment);
  }
  app.sandbox.control.refund(payments[0]!, { amount: 433 });
  other = await app.paidTenant();
  await app.settled();
});

const list = (key: string, query = '') => app.request('GET', `/v1/payments${query}`, { key });
const listAs = (accept: string, key: string, query = '') =>
  app.request('GET', `/v1/payments${query}`, { key, headers: { accept } });
const receipt = (key: string, id: string) => app.request('GET', `/v1/payments/${id}/receipt`, { key });
const amount = (micros: number) => ({ micros, display: expect.stringMatching(/^\$\d+\.\d{6}$/) });

describe('GET /v1/payments', () => {
  describe('200', () => {
    test('newest first, with tax only where there was some', async () => {
      const body = expectOk(await list(tenant.key));
      expect(body.payments.map(({ id }: { id: string }) => id)).toStrictEqual(payments.toReversed());
      expect(body).toStrictEqual({
        payments: [
          expect.objectContaining({ amount: { micros: 40_000_000, display: '$40.000000' } }),
          expect.objectContaining({ amount: amount(30_000_000) }),
          {
            id: payments[1],
            kind: 'top_up',
            amount: amount(10_000_000),
            reversed: amount(0),
            at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
          },
          {
            id: payments[0],
            kind: 'top_up',
            amount: amount(20_000_000),
            tax: amount(1_650_000),
            reversed: amount(4_000_000),
            at: expect.any(String),
          },
        ],
      });
    });

    test('those of the tenant, and none for one that never paid', async () => {
      expect(expectOk(await list(other.key)).payments).toHaveLength(1);
      expect(expectOk(await list((await app.signUp()).key))).toStrictEqual({ payments: [] });
    });

    test('all of a period as CSV or NDJSON, in columns of numbers', async () => {
      const csv = await listAs('text/csv', tenant.key);
      expect(csv.headers.get('content-disposition')).toBe('attachment; filename="payments.csv"');
      const [names, ...lines] = csv.text.trimEnd().split('\r\n');
      expect(names).toBe('at,id,kind,micros,dollars,tax_micros,reversed_micros');
      expect(lines.map((line) => line.split(',')[1])).toStrictEqual(payments.toReversed());
      expect(lines.at(-1)).toMatch(/Z,pi_\w+,top_up,20000000,20\.000000,1650000,4000000$/);
      const { at } = expectOk(await list(tenant.key)).payments[0];
      const one = await listAs('application/x-ndjson', tenant.key, `?from=${at}`);
      expect(JSON.parse(one.text)).toMatchObject({
        id: payments[3],
        micros: 40_000_000,
        dollars: '40.000000',
      });
      const refused = await listAs('text/csv', tenant.key, '?limit=5');
      expectError(
        refused,
        400,
        'invalid request: limit and cursor must be left out of a stream, which has every line',
      );
    });

    test('a page at a time', async () => {
      const { db } = app.service.deps;
      const pages: string[][] = [];
      let after: string | undefined;
      do {
        const page = await listPayments(db, idOf(tenant), { after, size: 3 });
        pages.push(page!.items.map(({ id }) => id));
        after = page!.end?.id;
      } while (after);
      expect(pages).toStrictEqual([payments.slice(1).toReversed(), payments.slice(0, 1)]);
    });

    test('those of a period, so many at a time', async () => {
      const times = expectOk(await list(tenant.key)).payments.map(({ at }: { at: string }) => at);
      const idsOf = async (query: string) =>
        expectOk(await list(tenant.key, query)).payments.map(({ id }: { id: string }) => id);
      expect(await idsOf(`?from=${times[1]}&limit=1`)).toStrictEqual([payments[3]]);
      expect(await idsOf(`?from=${times[2]}&to=${times[1]}`)).toStrictEqual([payments[1]]);
      expect(await idsOf('?to=2026-01-01')).toStrictEqual([]);
    });

    test('a page at a time over HTTP, though several were credited at one instant', async () => {
      const { key, id } = await app.signUp();
      await app.service.deps.db.query(
        `insert into payments (id, tenant_id, kind, credited, checkout_id, settled_at)
         select 'pi_' || $2 || lpad(n::text, 3, '0'), $1, 'top_up', 1, 'co_' || n, '2026-01-01'
           from generate_series(0, 100) n`,
        [idOf({ id }), id.slice(2)],
      );
      const first = expectOk(await list(key));
      expect(first.payments).toHaveLength(100);
      const second = expectOk(await list(key, `?cursor=${first.next_cursor}`));
      expect(second).toStrictEqual({ payments: [expect.objectContaining({ id: `pi_${id.slice(2)}000` })] });
      await app.service.deps.db.query('delete from payments where tenant_id = $1', [idOf({ id })]);
    });
  });

  describe('400', () => {
    const cursorOf = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');

    test.each([
      ['no cursor', () => 'x'],
      ['an empty one', () => ''],
      ['that of a key', () => cursorOf(tenant.keyId)],
      ['of a payment that there is not', () => cursorOf('pi_x')],
      ['of the last payment', () => cursorOf(payments[0])],
      ['of a payment of another tenant', async () => cursorOf(await paymentOf(other))],
    ])('refuses %s', async (_what, cursor) => {
      const answer = await list(tenant.key, `?cursor=${await cursor()}`);
      expectError(answer, 400, 'invalid request: cursor must be one that an answer gave');
    });
  });

  test.each([
    ['?limit=1001', 'invalid request: limit must be a number from 1 to 1000'],
    ['?from=2026-01-02&to=2026-01-01', 'invalid request: from must be before to'],
    ['?from=yesterday', 'invalid request: from must be a day or a time such as 2026-11-01T00:00:00Z'],
  ])('400 for %s', async (query, message) => {
    expectError(await list(tenant.key, query), 400, message);
  });

  test('401 for a relay key', async () => {
    expectError(await list(tenant.relayKey), 401, 'invalid api key');
  });

  test.each(['suspended', 'archived', 'deleted'] as const)('403 for a tenant that is %s', async (status) => {
    const fresh = await app.paidTenant();
    const payment = await paymentOf(fresh);
    await setStatus(app, fresh, status);
    expectError(await list(fresh.key), 403, 'tenant is not active');
    expectError(await receipt(fresh.key, payment), 403, 'tenant is not active');
  });
});

async function paymentOf({ key }: TestTenant): Promise<string> {
  return expectOk(await list(key)).payments[0].id;
}

describe('GET /v1/payments/{id}/receipt', () => {
  describe('200', () => {
    test('links the receipt and the invoice, which can be opened', async () => {
      const body = expectOk(await receipt(tenant.key, payments[0]!));
      expect(body).toStrictEqual({
        url: expect.stringMatching(/\/receipts\/ch_\w+$/),
        invoice_url: expect.stringMatching(/\/invoices\/in_\w+$/),
      });
      expect(await (await fetch(body.url)).text()).toContain('$4.33 of it refunded');
      expect(await (await fetch(body.invoice_url)).text()).toContain('$1.65');
    });

    test('an automatic top-up has no invoice', async () => {
      const { key, relayKey } = await app.paidTenant({ cents: 1000 });
      const autoTopUp = { enabled: true, below_cents: 900, amount_cents: 1000 };
      await app.request('PUT', '/v1/billing/auto-top-up', { key, body: autoTopUp });
      const records = [
        {
          id: 'a',
          role: 'host',
          tier: '2k_plus',
          seconds: 86_400,
          egress_bytes: 2 ** 52,
          ingress_bytes: 0,
        },
      ];
      await app.request('POST', '/v1/usage', { key: relayKey, body: { records } });
      const kinds = async () => expectOk(await list(key)).payments.map(({ kind }: { kind: string }) => kind);
      await expect.poll(kinds).toContain('auto_top_up');
      const { payments: credited } = expectOk(await list(key));
      const { id } = credited.find(({ kind }: { kind: string }) => kind === 'auto_top_up');
      expect(expectOk(await receipt(key, id))).toStrictEqual({
        url: expect.stringMatching(/\/receipts\/ch_\w+$/),
      });
    });
  });

  test('401 for a relay key', async () => {
    expectError(await receipt(tenant.relayKey, payments[0]!), 401, 'invalid api key');
  });

  test.each([
    ['a payment that there is not', () => 'pi_x'],
    ['something else', () => 'ch_1'],
    ['text that no database takes', () => '%00'],
    ['a payment of another tenant', () => paymentOf(other)],
  ])('404 for %s', async (_what, id) => {
    expectError(await receipt(tenant.key, await id()), 404, 'not found');
  });

  test('404 if the provider has no receipt', async () => {
    const fresh = await app.signUp();
    const id = `pi_${fresh.id}`;
    await app.service.deps.db.query(
      `insert into payments (id, tenant_id, kind, credited, checkout_id) values ($1, $2, 'top_up', 1, 'co_x')`,
      [id, idOf(fresh)],
    );
    expectError(await receipt(fresh.key, id), 404, 'not found');
    await app.service.deps.db.query('delete from payments where id = $1', [id]);
  });

  test.each(['/v1/payment_intents/*', '/v1/checkout/sessions'])(
    "502 with the provider's message when it fails at %s",
    async (path) => {
      app.sandbox.control.fault({ effect: 'fail_500', method: 'GET', path, count: 2 });
      const answer = await receipt(tenant.key, payments[0]!);
      app.sandbox.control.clearFaults();
      expectError(answer, 502, answer.json.error);
      expect(answer.json.error).not.toBe('internal error');
    },
  );

  describe('503', () => {
    const poor = useService({ payments: false });

    test('payments are not configured', async () => {
      const fresh = await poor.signUp();
      await poor.service.deps.db.query(
        `insert into payments (id, tenant_id, kind, credited, checkout_id) values ('pi_1', $1, 'top_up', 1, 'co_x')`,
        [idOf(fresh)],
      );
      const answer = await poor.request('GET', '/v1/payments/pi_1/receipt', { key: fresh.key });
      expectError(answer, 503, 'payments are not configured on this deployment');
    });
  });
});
