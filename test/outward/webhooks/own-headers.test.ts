import { inspect } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { makeLog } from '../../../src/base/telemetry/log.ts';
import { parseOwnHeaders, renderOwnHeaders } from '../../../src/outward/webhooks/own-headers.ts';
import { FAST_WEBHOOKS, useReceiver } from '../../support/receiver.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { appendCounted, makeWebhook } from './support.ts';

const SECRET = 'open-sesame-4711';
const PASSWORD = 'pa:ss-0815';

const header = (name: string, value = 'x') => ({ headers: [{ name, value }], basicAuth: null });
const messageOf = (given: Parameters<typeof parseOwnHeaders>[0]) => {
  try {
    return parseOwnHeaders(given);
  } catch (error) {
    return (error as Error).message.replace('invalid request: ', '');
  }
};

describe('headers of a webhook', () => {
  test.each(['x-api-key', 'X-Api-Key', 'Authorization', 'cookie', "!#$%&'*+.^_`|~0"])(
    '%s is accepted',
    (name) => {
      expect(messageOf(header(name))).toEqual(header(name.toLowerCase()));
    },
  );

  test.each(['', 'a b', 'a:b', 'ä', 'a\nb', 'x'.repeat(101)])('the name %j is refused', (name) => {
    expect(messageOf(header(name))).toBe('headers must have names of headers, such as x-api-key');
  });

  test.each([
    'Host',
    'Content-Type',
    'content-length',
    'Content-Anything',
    'webhook-id',
    'Webhook-Extra',
    'connection',
    'transfer-encoding',
    'user-agent',
    'Accept-Encoding',
    'proxy-authorization',
    'te',
    'trailer',
    'upgrade',
    'expect',
    'keep-alive',
  ])('%s is the request its own', (name) => {
    expect(messageOf(header(name))).toBe(
      `headers must not have ${name.toLowerCase()}: the request has its own`,
    );
  });

  test.each(['', ' x', 'x ', 'a\r\nb: c', 'a\tb', 'ü', 'x'.repeat(1_025)])(
    'the value %j is refused, and not told',
    (value) => {
      const message = messageOf(header('x-key', value));
      expect(message).toMatch(
        /^headers must have values of 1 to 1024 printable ASCII characters, .*: x-key$/,
      );
    },
  );

  test('of one name, and more than ten, are refused', () => {
    const named = (names: string[]) => ({
      headers: names.map((name) => ({ name, value: 'x' })),
      basicAuth: null,
    });
    expect(messageOf(named(['x-a', 'X-A']))).toBe('headers must have each name once: x-a');
    expect(messageOf(named(Array.from({ length: 11 }, (_, at) => `x-${at}`)))).toBe(
      'headers must be at most 10',
    );
  });

  test.each([
    [{ username: 'a:b', password: 'x' }],
    [{ username: 'a\n', password: 'x' }],
    [{ username: 'a', password: 'x'.repeat(257) }],
  ])('Basic authentication of %j is refused', (basicAuth) => {
    expect(messageOf({ headers: [], basicAuth })).toMatch(
      /^basic_auth must have a user name without a colon/,
    );
  });

  test('authorization comes once', () => {
    const basicAuth = { username: 'a', password: 'b' };
    expect(messageOf({ ...header('Authorization'), basicAuth })).toBe(
      'basic_auth must not come with a header authorization',
    );
    expect(renderOwnHeaders({ headers: [], basicAuth: { username: 'zoë', password: 'b' } })).toEqual({
      authorization: `Basic ${Buffer.from('zoë:b').toString('base64')}`,
    });
  });
});

describe('what a webhook sends', () => {
  const lines: string[] = [];
  const app = useService({
    webhooks: FAST_WEBHOOKS,
    log: makeLog('trace', { write: (line: string) => void lines.push(line) }),
  });
  const receiver = useReceiver();
  const settle = (work: () => void | Promise<void>) => vi.waitFor(work, { timeout: 60_000, interval: 20 });
  const basic_auth = { username: 'ann', password: PASSWORD };
  const headers = [{ name: 'X-Api-Key', value: SECRET }];
  let tenant: TestTenant;

  test.each(['tenant', 'none'])('order %s: has its headers, and nothing shows them', async (order) => {
    tenant = await app.signUp();
    const path = `/own-${order}`;
    const types = ['credit_spent'];
    const { id } = await makeWebhook(app, tenant, receiver.url(path), { order, types, headers, basic_auth });
    const ask = (method: string, below: string, body?: object) =>
      app.request(method, `/v1/webhooks/${id}${below}`, { key: tenant.key, ...(body && { body }) });
    await appendCounted(app, tenant, 1);
    await settle(() => expect(receiver.received(path)).toHaveLength(1));
    await ask('POST', '/test');
    const authorization = `Basic ${Buffer.from(`ann:${PASSWORD}`).toString('base64')}`;
    for (const each of receiver.received(path)) {
      expect(each.headers).toMatchObject({
        'x-api-key': SECRET,
        authorization,
        'content-type': 'application/json',
      });
    }
    const shown = await ask('GET', '');
    expect(shown.json).toMatchObject({ header_names: ['x-api-key'], has_basic_auth: true });
    const { rows } = await app.service.deps.db.query('select * from webhook_endpoints where id = $1', [id]);
    const audit = await app.request('GET', '/v1/audit', { key: tenant.key });
    const seen = [
      shown.text,
      (await ask('GET', '/deliveries')).text,
      audit.text,
      lines.join(''),
      inspect(rows),
    ];
    for (const each of seen) {
      for (const secret of [SECRET, PASSWORD, authorization]) expect(each).not.toContain(secret);
    }
    expect(rows[0].sealed_headers.includes(Buffer.from(SECRET))).toBe(false);
  });

  test('is replaced in parts, from the next request on', async () => {
    tenant = await app.signUp();
    const path = '/own-changed';
    const { id } = await makeWebhook(app, tenant, receiver.url(path), { headers, basic_auth });
    const change = async (body: object) =>
      (await app.request('PATCH', `/v1/webhooks/${id}`, { key: tenant.key, body })).json;
    const sent = async () => {
      await app.request('POST', `/v1/webhooks/${id}/test`, { key: tenant.key });
      const { 'x-api-key': key, 'x-b': b, authorization } = receiver.received(path).at(-1)!.headers;
      return [key, b, authorization !== undefined];
    };
    expect(await change({ headers: [{ name: 'x-b', value: 'other' }] })).toMatchObject({
      header_names: ['x-b'],
      has_basic_auth: true,
    });
    expect(await sent()).toEqual([undefined, 'other', true]);
    await change({ basic_auth: { username: '', password: '' } });
    expect(await sent()).toEqual([undefined, 'other', false]);
    expect(await change({ headers: [] })).toMatchObject({ header_names: [], has_basic_auth: false });
    expect(await sent()).toEqual([undefined, undefined, false]);
  });

  test('is tried at once when they change', async () => {
    tenant = await app.signUp();
    const path = '/own-locked';
    receiver.answer(path, ({ headers: { 'x-api-key': key } }, response) => {
      if (key === SECRET) return 204;
      response.writeHead(401, { 'retry-after': '3600' }).end();
      return undefined;
    });
    const { id } = await makeWebhook(app, tenant, receiver.url(path), { types: ['credit_spent'] });
    await appendCounted(app, tenant, 1);
    await settle(() => expect(receiver.received(path)).toHaveLength(1));
    await settle(async () => {
      const { failures } = (await app.request('GET', `/v1/webhooks/${id}`, { key: tenant.key })).json;
      expect(failures).toBe(1);
    });
    await app.request('PATCH', `/v1/webhooks/${id}`, { key: tenant.key, body: { headers } });
    await settle(async () => {
      const { delivered_seq } = (await app.request('GET', `/v1/webhooks/${id}`, { key: tenant.key })).json;
      expect(delivered_seq).toBe(1);
    });
  });
});
