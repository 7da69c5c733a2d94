import { beforeAll, describe, expect, test } from 'vitest';
import { type TestTenant, useService } from '../../support/service.ts';
import { expectError, expectOk, NOT_BOOLEANS, NOT_STRINGS, setStatus } from './support.ts';

const app = useService({ payments: false });
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
});

const get = (key = tenant.key) => app.request('GET', '/v1/mail', { key });
const put = (body: unknown, key = tenant.key, headers: Record<string, string> = {}) =>
  app.request('PUT', '/v1/mail', { key, body, headers });
const some = { addresses: ['ops@example.com'], alerts: true, receipts: false };
const DEFAULTS = {
  signup_address: true,
  email: 'ada@example.com',
  addresses: [],
  alerts: true,
  receipts: true,
  unsubscribed: [],
};

async function entriesOf(key: string) {
  const { entries } = expectOk(await app.request('GET', '/v1/audit?action=mail_settings_changed', { key }));
  return entries;
}

describe('GET /v1/mail', () => {
  test('shows the defaults until they are changed', async () => {
    const fresh = await app.signUp();
    expect(expectOk(await get(fresh.key))).toStrictEqual(DEFAULTS);
  });
});

describe('PUT /v1/mail', () => {
  test('replaces the settings of this tenant alone', async () => {
    const other = await app.signUp();
    const body = expectOk(await put(some));
    expect(body).toStrictEqual({ ...DEFAULTS, ...some });
    expect(expectOk(await get())).toStrictEqual(body);
    expect(expectOk(await get(other.key))).toStrictEqual(DEFAULTS);

    const five = [1, 2, 3, 4, 5].map((at) => `ops${at}@example.com`);
    const next = { addresses: five, alerts: false, receipts: true, signup_address: false };
    expect(expectOk(await put(next))).toStrictEqual({ ...DEFAULTS, ...next });
    expect(expectOk(await put({ addresses: [], alerts: true, receipts: true }))).toStrictEqual(DEFAULTS);
  });

  test('has an entry in the audit trail, unless it changed nothing', async () => {
    const fresh = await app.signUp();
    expectOk(await put(some, fresh.key));
    expectOk(await put(some, fresh.key));
    expect(await entriesOf(fresh.key)).toMatchObject([
      {
        action: 'mail_settings_changed',
        actor: { kind: 'key', id: fresh.keyId },
        before: { addresses: [], receipts: true },
        after: { addresses: ['ops@example.com'], receipts: false },
      },
    ]);
  });

  test('has one effect with an Idempotency-Key', async () => {
    const fresh = await app.signUp();
    const key = { 'idempotency-key': 'mail-1' };
    const first = expectOk(await put(some, fresh.key, key));
    expectOk(await put({ ...some, addresses: [] }, fresh.key));
    expect(expectOk(await put(some, fresh.key, key))).toStrictEqual(first);
    expect(expectOk(await get(fresh.key)).addresses).toStrictEqual([]);
    const other = await put({ ...some, alerts: false }, fresh.key, key);
    expectError(other, 422, 'invalid request: Idempotency-Key was used for another request');
  });

  describe('400', () => {
    test.each([
      [undefined, 'body must be object'],
      [null, 'body must be object'],
      [[], 'body must be object'],
      [{}, 'addresses is required'],
      [{ addresses: [], receipts: true }, 'alerts is required'],
      [{ addresses: [], alerts: true }, 'receipts is required'],
      [{ ...some, email: 'a@b.co' }, 'email is not a known field'],
      [{ ...some, unsubscribed: [] }, 'unsubscribed is not a known field'],
      [{ ...some, addresses: null }, 'addresses must be array'],
      [{ ...some, addresses: 'a@b.co' }, 'addresses must be array'],
      [{ ...some, addresses: { 0: 'a@b.co' } }, 'addresses must be array'],
      [{ ...some, addresses: Array(6).fill('a@b.co') }, 'addresses must not have more than 5 items'],
      [
        { ...some, addresses: [`${'a'.repeat(250)}@b.co`] },
        'addresses/0 must not have more than 254 characters',
      ],
      [{ ...some, addresses: ['a@b.co', 'A@B.CO'] }, 'addresses/1 must be listed once'],
      [{ ...some, addresses: ['a@b.co', 'a@b.co'] }, 'addresses/1 must be listed once'],
    ])('refuses the body %j', async (body, what) => {
      expectError(await put(body), 400, `invalid request: ${what}`);
    });

    test.each([
      '',
      'a',
      'a@b',
      'a b@c.co',
      'a@b.co\n',
      'a@b.co\r\nBcc: e@f.gh',
      'a@b.co,c@d.ef',
      'A <a@b.co>',
      'ä@b.co',
      '"a"@b.co',
      'a@b.co ',
      '\u202ea@b.co',
      `${'a'.repeat(65)}@b.co`,
    ])('refuses the address %j', async (address) => {
      const answer = await put({ ...some, addresses: ['ok@example.com', address] });
      expectError(answer, 400, 'invalid request: addresses/1 must be a mail address');
    });

    test.each(NOT_STRINGS)('refuses the address %j', async (address) => {
      const answer = await put({ ...some, addresses: [address] });
      expectError(answer, 400, 'invalid request: addresses/0 must be string');
    });

    describe.each(['alerts', 'receipts', 'signup_address'])('%s', (field) => {
      test.each(NOT_BOOLEANS)('refuses %j', async (value) => {
        expectError(await put({ ...some, [field]: value }), 400, `invalid request: ${field} must be boolean`);
      });
    });

    test('changes nothing', async () => {
      const before = expectOk(await get());
      await put({ ...some, addresses: ['x'] });
      expect(expectOk(await get())).toStrictEqual(before);
    });
  });

  test('401: refuses a relay key, and no key', async () => {
    expectError(await put(some, tenant.relayKey), 401, 'invalid api key');
    expectError(await get(tenant.relayKey), 401, 'invalid api key');
    expectError(await app.request('GET', '/v1/mail'), 401, 'invalid api key');
    expectError(await app.request('PUT', '/v1/mail', { body: some }), 401, 'invalid api key');
  });

  test.each(['suspended', 'archived', 'deleted'] as const)(
    '403: refuses a tenant that is %s',
    async (status) => {
      const fresh = await app.signUp();
      await setStatus(app, fresh, status);
      expectError(await put(some, fresh.key), 403, 'tenant is not active');
      expectError(await get(fresh.key), 403, 'tenant is not active');
    },
  );
});
