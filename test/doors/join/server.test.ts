/** The door on an address of its own, and a database that is unavailable or hangs. */
import { generateKeyPairSync } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isDistributed } from '../../../src/base/db/distribution.ts';
import { startService } from '../../../src/run/service.ts';
import { type DatabaseProxy, openDatabaseProxy } from '../../base/db/proxy.ts';
import { createCredential, expectJoined, expectText, join, newDevice } from '../../support/devices.ts';
import { openHolder } from '../../support/holder.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { expectError, rawRequest, sendBytes } from '../rest/support.ts';

describe('on an address of its own', () => {
  const app = useService({ joinAddress: { host: '127.0.0.1', port: 0 } });
  const own = () => ({ url: `http://127.0.0.1:${app.service.joinPort}` });

  test('joins are served there, and not on the REST interface', async () => {
    const device = await newDevice(app);
    expect(app.service.joinPort).not.toBe(app.service.port);
    expectJoined(await join(own(), device.credential));
    expectError(await join(app, device.credential), 404, 'not found');
  });

  test.each(['GET', 'PUT', 'OPTIONS', 'HEAD'])('%s of /join is 405', async (method) => {
    const answer = await ask(`${own().url}/join`, method);
    expect([answer.status, answer.headers.get('allow')]).toStrictEqual([405, 'POST']);
    if (method !== 'HEAD') expectText(answer, 405, 'method not allowed');
  });

  test('serves the published keys too', async () => {
    const [here, there] = await Promise.all(
      [own().url, app.url].map((url) => ask(`${url}/.well-known/jwks.json`, 'GET')),
    );
    expect(here!.json).toStrictEqual(there!.json);
    expect(here!.headers.get('cache-control')).toBe('public, max-age=300');
    const refused = await ask(`${own().url}/.well-known/jwks.json`, 'POST');
    expectText(refused, 405, 'method not allowed');
    expect(refused.headers.get('allow')).toBe('GET, HEAD');
  });

  test.each(['/', '/v1/rates', '/join/', '/Join', '//join', '/docs', '/%', '/metrics'])(
    '%s does not exist',
    async (path) => {
      for (const method of ['GET', 'POST']) {
        expectText(await ask(own().url + path, method), 404, 'not found');
      }
    },
  );

  test('malformed HTTP gets an error in plain text', async () => {
    for (const bytes of ['hello\r\n\r\n', rawRequest('POST /join HTTP/1.1', { x: 'y'.repeat(20_000) })]) {
      const answer = await sendBytes(own().url, bytes);
      expect([answer.status, answer.headers.get('content-type')]).toStrictEqual([
        400,
        'text/plain; charset=utf-8',
      ]);
      expect(answer.text).toMatch(/^invalid request: /);
    }
  });

  test('a request without a Host is 400', async () => {
    const answer = await sendBytes(own().url, 'POST /join HTTP/1.1\r\ncontent-length: 0\r\n\r\n');
    expectText(answer, 400, 'invalid request: the Host header is required');
  });
});

describe('GET /.well-known/jwks.json', () => {
  const app = useService();

  test('holds public members only, needs no key, and may be cached for a while', async () => {
    const answer = await app.request('GET', '/.well-known/jwks.json');
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300');
    const coordinate = expect.stringMatching(/^[\w-]{43}$/);
    expect(answer.json).toStrictEqual({
      keys: [
        { kty: 'EC', crv: 'P-256', x: coordinate, y: coordinate, kid: coordinate, alg: 'ES256', use: 'sig' },
      ],
    });
  });

  test('never contains d, even if it is in the table', async () => {
    const { db } = app.service.deps;
    const { d } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' });
    await expect(
      db.query(`update signing_keys set public_key = public_key || jsonb_build_object('d', $1::text)`, [d]),
    ).rejects.toThrow('signing_keys_public_key_check');
    await db.query('alter table signing_keys drop constraint signing_keys_public_key_check');
    await db.query(`update signing_keys set public_key = public_key || jsonb_build_object('d', $1::text)`, [
      d,
    ]);
    const answer = await app.request('GET', '/.well-known/jwks.json');
    expect(answer.text).not.toContain(d);
    expect(Object.keys(answer.json.keys[0])).not.toContain('d');
  });

  test('a failure may not be cached', async () => {
    const { db } = app.service.deps;
    await db.query('alter table signing_keys rename to lost');
    expectError(await app.request('GET', '/.well-known/jwks.json'), 500, 'internal error');
    await db.query('alter table lost rename to signing_keys');
  });
});

describe('a database that', () => {
  const app = useService();
  let proxy: DatabaseProxy;
  let behind: Awaited<ReturnType<typeof startService>>;
  let tenant: TestTenant;
  const url = () => ({ url: `http://127.0.0.1:${behind.port}` });

  beforeAll(async () => {
    proxy = await openDatabaseProxy(app.config.databaseUrl);
    behind = await startService(
      { ...app.config, databaseUrl: proxy.url, stripeSecretKey: undefined },
      pino({ level: 'silent' }),
    );
    tenant = await app.paidTenant();
  });
  afterAll(async () => {
    proxy.setOpen(true);
    await behind.stop();
    await proxy.close();
  });
  const credentialOf = async () => (await createCredential(app, tenant)).credential;

  test('is unavailable: 503 until it is back', async () => {
    const credential = await credentialOf();
    proxy.setOpen(false);
    expectText(await join(url(), credential), 503, 'temporarily unavailable');
    proxy.setOpen(true);
    expectJoined(await join(url(), credential));
  });

  test('is lost in the middle of a join: 503', async () => {
    const credential = await credentialOf();
    // The name of a statement is on the wire each time, its text only once per connection.
    const joining = isDistributed()
      ? ['find-credentials-by-id', 'count-in-window', 'find-entry-states-of-tenant']
      : ['find-join-lookups'];
    const renewing = isDistributed()
      ? ['lock-free-participants', 'renew-participants']
      : ['renew-free-admissions'];
    const entering = isDistributed() ? ['insert-participant', 'upsert-1-devices'] : ['insert-newcomers'];
    const returning = isDistributed() ? [] : ['upsert-free-admissions'];
    expectJoined(await join(url(), credential, { username: 'leaver' }));
    await app.service.deps.db.query(
      `update participants set left_at = now(), leave_reason = 'expired' where username = 'leaver'`,
    );
    for (const statement of [...joining, ...entering, ...returning, ...renewing]) {
      // A newcomer is admitted, who left enters again, a present participant renews.
      const newcomer = entering.includes(statement) && `newcomer-${entering.indexOf(statement)}`;
      const username = newcomer || (returning.includes(statement) ? 'leaver' : 'ann');
      proxy.cutBefore(statement);
      expectText(await join(url(), credential, { username }), 503, 'temporarily unavailable');
      proxy.cutBefore(undefined);
      expectJoined(await join(url(), credential, { username }));
    }
  });

  test('is lost while the body is still on its way: 503, not a client error', async () => {
    const credential = await credentialOf();
    const head = {
      authorization: `Bearer ${credential}`,
      'content-type': 'application/json',
      'content-length': '100',
    };
    proxy.cutBefore(isDistributed() ? 'find-credentials-by-id' : 'find-join-lookups');
    const answer = await sendBytes(url().url, rawRequest('POST /join HTTP/1.1', head, '{'));
    proxy.cutBefore(undefined);
    expectText(answer, 503, 'temporarily unavailable');
  });

  test.each([
    ['a table', 'lock table rooms in access exclusive mode'],
    ['a counter of joins', "select from rate_limits where key like 'join:%' for update"],
    ['what joins write', 'lock table participants in exclusive mode'],
  ])('holds the lock of %s for too long: 504', async (_what, statement) => {
    const [one, two] = [await credentialOf(), await credentialOf()];
    for (const each of [one, two]) expectJoined(await join(url(), each, { username: 'zoe' }));
    const holder = await openHolder(app.service.deps.db);
    await holder.query(statement);
    const answers = await Promise.all([join(url(), one), join(app, two, { room: 'another' })]);
    await holder.release();
    for (const answer of answers) expectText(answer, 504, 'deadline exceeded');
    expectJoined(await join(url(), one));
  });

  test('stops answering: 504 within 15 seconds', async () => {
    const credential = await credentialOf();
    expectJoined(await join(url(), credential));
    proxy.setSilent(true);
    const started = performance.now();
    const answer = await join(url(), credential);
    const elapsedMs = performance.now() - started;
    proxy.setSilent(false);
    expectText(answer, 504, 'deadline exceeded');
    expect(elapsedMs).toBeLessThan(16_000);
    await expect.poll(async () => (await join(url(), credential)).status).toBe(200);
  });

  test('has lost its tables: 500, in plain text', async () => {
    const credential = await credentialOf();
    const { db } = app.service.deps;
    await db.query('alter table admissions rename to lost');
    expectText(await join(app, credential), 500, 'internal error');
    await db.query('alter table lost rename to admissions');
    expectJoined(await join(app, credential));
  });
});
