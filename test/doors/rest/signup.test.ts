import { describe, expect, test } from 'vitest';
import { ask, useService } from '../../support/service.ts';
import { expectError, expectOk, KEY, NOT_STRINGS } from './support.ts';

const app = useService();

let addresses = 0;
/** An address without signups so far. */
const newAddress = () => {
  addresses += 1;
  return `203.0.${Math.floor(addresses / 250)}.${1 + (addresses % 250)}`;
};
const valid = { name: 'Ada Video', email: 'ada@example.com' };
const post = (body: unknown, from = newAddress(), url = app.url) =>
  ask(`${url}/v1/signup`, 'POST', { body, headers: { 'x-forwarded-for': from } });
const tooMany = 'too many signups from this address';
const spend = async (from: string, url = app.url) => {
  for (let count = 0; count < 5; count += 1) expectOk(await post(valid, from, url), 201);
};

describe('POST /v1/signup', () => {
  describe('201', () => {
    test('creates a tenant, its first backend key named default, and a checkout', async () => {
      const body = expectOk(await post(valid), 201);
      expect(body).toStrictEqual({
        tenant: expect.stringMatching(/^t_[0-9a-f]{16}$/),
        status: 'pending',
        api_key: expect.stringMatching(KEY),
        key_id: expect.stringMatching(/^[0-9a-f]{16}$/),
        checkout_url: expect.stringMatching(/cs_test_/),
        note: expect.stringMatching(/once/),
      });
      expect(KEY.exec(body.api_key)![1]).toBe(body.key_id);

      const { keys } = expectOk(await app.request('GET', '/v1/keys', { key: body.api_key }));
      expect(keys).toMatchObject([{ id: body.key_id, name: 'default', kind: 'backend' }]);
      const session = await app.stripe.checkout.sessions.retrieve(/cs_test_\w+/.exec(body.checkout_url)![0]);
      expect(session.amount_total).toBe(2000);
    });

    test('several tenants may share an address', async () => {
      const [one, other] = [expectOk(await post(valid), 201), expectOk(await post(valid), 201)];
      expect(one.tenant).not.toBe(other.tenant);
    });

    test.each([
      'n',
      'n'.repeat(200),
      '😀'.repeat(200),
      ' ',
      "'); drop table tenants; --",
      '<script>{{7*7}}\x24{7*7}</script> %s $1',
      'e\u0301\u202e\u2028\ufeff\t\n',
    ])('keeps the name %j as it is', async (name) => {
      const { api_key: key } = expectOk(await post({ ...valid, name }), 201);
      expect(expectOk(await app.request('GET', '/v1/billing', { key })).tenant.name).toBe(name);
    });

    test.each([
      'a@b.co',
      'first.last+tag@sub.example.co.uk',
      "o'brien#$&*/=?^_`{}~-@example.com",
      'UPPER@EXAMPLE.COM',
      '1@xn--bcher-kva.example',
      `${'a'.repeat(64)}@${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(57)}.com`,
    ])('accepts the e-mail address %s and keeps it as it is', async (email) => {
      const { api_key: key } = expectOk(await post({ ...valid, email }), 201);
      expect(expectOk(await app.request('GET', '/v1/billing', { key })).tenant.email).toBe(email);
    });

    test('succeeds without a checkout when the provider fails', async () => {
      app.sandbox.control.fault({ effect: 'fail_500', method: 'POST', count: 2 });
      const body = expectOk(await post(valid), 201);
      app.sandbox.control.clearFaults();
      expect(body.checkout_url).toBe('');
      const checkout = { key: body.api_key, body: { amount_cents: 1000 } };
      expectOk(await app.request('POST', '/v1/billing/checkout', checkout));
    });

    describe('without payments', () => {
      const poor = useService({ payments: false });

      test('succeeds without a checkout', async () => {
        expect(expectOk(await post(valid, newAddress(), poor.url), 201)).toMatchObject({
          status: 'pending',
          checkout_url: '',
        });
      });
    });
  });

  describe('400', () => {
    test.each([
      [undefined, 'body must be object'],
      [null, 'body must be object'],
      [[], 'body must be object'],
      [{}, 'email is required'],
      [{ email: valid.email }, 'name is required'],
      [{ name: valid.name }, 'email is required'],
      [{ ...valid, name: '' }, 'name must not be empty'],
      [{ ...valid, status: 'active' }, 'status is not a known field'],
      [{ ...valid, exempt: true }, 'exempt is not a known field'],
    ])('refuses the body %j', async (body, what) => {
      expectError(await post(body), 400, `invalid request: ${what}`);
    });

    test.each(['n', '😀'])('refuses a name of 201 times %s', async (character) => {
      const answer = await post({ ...valid, name: character.repeat(201) });
      expectError(answer, 400, 'invalid request: name must not have more than 200 characters');
    });

    test.each([
      '',
      'a',
      '@',
      'a@',
      '@b.co',
      'a b@example.com',
      'a@b@example.com',
      'a@exa mple.com',
      'a@example.com\n',
      'a@example.com\r\nBcc: b@example.com',
      'Ada <a@example.com>',
      'a@example.com, b@example.com',
      '.a@example.com',
      'a..b@example.com',
      'a@-example.com',
      'a@example..com',
      '|cmd@example.com',
      'a!b@example.com',
      'a%example.net@example.com',
      '/etc/passwd@example.com',
    ])('refuses the e-mail address %j', async (email) => {
      expectError(await post({ ...valid, email }), 400, 'invalid request: email must match format "email"');
    });

    test('refuses an e-mail address of 255 characters', async () => {
      const email = `${'a'.repeat(64)}@${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(58)}.com`;
      expect(email).toHaveLength(255);
      expectError(
        await post({ ...valid, email }),
        400,
        'invalid request: email must not have more than 254 characters',
      );
    });

    test.each(['name', 'email'])('refuses %s that is not a string', async (field) => {
      for (const [value] of NOT_STRINGS) {
        expectError(
          await post({ ...valid, [field]: value }),
          400,
          `invalid request: ${field} must be string`,
        );
      }
    });

    test('creates nothing', async () => {
      const count = async () =>
        (await app.service.deps.db.query('select count(*) from tenants')).rows[0].count;
      const before = await count();
      expectError(await post({ ...valid, more: 1 }), 400, 'invalid request: more is not a known field');
      expect(await count()).toBe(before);
    });
  });

  describe('429', () => {
    test('the sixth signup of an address within an hour', async () => {
      const from = newAddress();
      await spend(from);
      const answer = await post(valid, from);
      expectError(answer, 429, tooMany);
      const retryAfter = Number(answer.headers.get('retry-after'));
      expect(retryAfter).toBeGreaterThan(3500);
      expect(retryAfter).toBeLessThanOrEqual(3600);
      expectOk(await post(valid), 201);
    });

    test('signups that fail validation do not count', async () => {
      const from = newAddress();
      for (let count = 0; count < 10; count += 1) expect((await post({}, from)).status).toBe(400);
      await spend(from);
      expectError(await post({}, from), 400, 'invalid request: email is required');
      expectError(await post(valid, from), 429, tooMany);
    });

    test('two processes count together, even concurrently', async () => {
      const { url } = await app.another();
      const from = newAddress();
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) => post(valid, from, at % 2 ? url : app.url)),
      );
      expect(answers.filter((answer) => answer.status === 201)).toHaveLength(5);
      for (const refused of answers.filter((answer) => answer.status !== 201))
        expectError(refused, 429, tooMany);
    });

    test('an IPv6 client is its /64', async () => {
      await spend('2001:db8:1:2::1');
      expectError(await post(valid, '2001:db8:1:2:ffff:ffff:ffff:ffff'), 429, tooMany);
      expectError(await post(valid, '2001:0DB8:0001:0002:0:0:0:3'), 429, tooMany);
      expectOk(await post(valid, '2001:db8:1:3::1'), 201);
    });

    test.each([
      ['/56', 10, (at: number) => `2001:db8:20:${at.toString(16)}::1`],
      ['/48', 20, (at: number) => `2001:db8:21:${(at * 256).toString(16)}::1`],
    ])('a customer with a whole IPv6 %s, after %i signups', async (_network, max, addressOf) => {
      for (let at = 0; at < max; at += 1) expectOk(await post(valid, addressOf(at)), 201);
      expectError(await post(valid, addressOf(max)), 429, tooMany);
      expectOk(await post(valid, '2001:db8:22::1'), 201);
    });

    describe('of the deployment', () => {
      const small = useService({ signupsPerHour: 3 });

      test('beyond the signups an hour of all addresses together', async () => {
        for (let at = 0; at < 3; at += 1) expectOk(await post(valid, newAddress(), small.url), 201);
        expectError(await post(valid, newAddress(), small.url), 429, 'too many signups: try again later');
      });
    });

    test('an IPv4-mapped IPv6 address is the same client as the IPv4 address', async () => {
      await spend('192.0.2.77');
      expectError(await post(valid, '::ffff:192.0.2.77'), 429, tooMany);
      expectError(await post(valid, '::FFFF:192.0.2.77'), 429, tooMany);
      expectError(await post(valid, '::ffff:c000:24d'), 429, tooMany);
      expectOk(await post(valid, '::ffff:192.0.2.78'), 201);
    });

    test('only the entry of the trusted proxy is used', async () => {
      const from = newAddress();
      await spend(from);
      expectError(await post(valid, `198.18.0.1, ${from}`), 429, tooMany);
      expectError(await post(valid, `${from}, 127.0.0.1`), 429, tooMany);
      expectOk(await post(valid, `${from}, ${newAddress()}`), 201);
    });

    test('the port that some proxies add is ignored', async () => {
      const from = newAddress();
      await spend(from);
      expectError(await post(valid, `${from}:50123`), 429, tooMany);
      await spend('[2001:db8:9:9::1]:50123');
      expectError(await post(valid, '2001:db8:9:9::2'), 429, tooMany);
    });

    describe('without a trusted proxy', () => {
      const direct = useService({ trustProxy: [] });

      test('X-Forwarded-For is ignored', async () => {
        for (let count = 0; count < 5; count += 1) expectOk(await post(valid, newAddress(), direct.url), 201);
        expectError(await post(valid, newAddress(), direct.url), 429, tooMany);
      });
    });
  });
});
