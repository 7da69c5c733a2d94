/** Input that no device sends, and hostile addresses. */
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  createCredential,
  deviceKey,
  expectJoined,
  expectText,
  join,
  thumbprint,
} from '../../support/devices.ts';
import { ask, type TestTenant, useService } from '../../support/service.ts';
import { rawRequest, sendBytes } from '../rest/support.ts';

const app = useService({ joinOrigins: ['https://app.example.com'] });
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.paidTenant();
});

const credentialWith = async (fields: Record<string, unknown> = {}) =>
  (await createCredential(app, tenant, fields)).credential;

const bodyOf = (bytes: number) => JSON.stringify({ username: 'ann', key: deviceKey() }).padEnd(bytes);

describe('a body', () => {
  const sendRaw = async (line: string, headers: string[], body: string) => {
    const head = [`authorization: Bearer ${await credentialWith()}`, ...headers];
    return sendBytes(app.url, rawRequest(line, head, body));
  };
  const JSON_TYPE = 'content-type: application/json';

  test.each([
    [[4096], true],
    [[4000, 96], true],
    [[4097], false],
    [[4000, 97], false],
    [[1, ...Array(50).fill(100)], false],
  ])('in chunks of %j bytes', async (sizes, fits) => {
    const body = bodyOf(sizes.reduce((sum, size) => sum + size));
    let at = 0;
    const chunks = sizes.map((size) => {
      at += size;
      return `${size.toString(16)}\r\n${body.slice(at - size, at)}\r\n`;
    });
    const headers = [JSON_TYPE, 'transfer-encoding: chunked'];
    const answer = await sendRaw('POST /join HTTP/1.1', headers, `${chunks.join('')}0\r\n\r\n`);
    if (fits) expectJoined(answer);
    else expectText(answer, 400, 'invalid request: body exceeds 4 KiB');
  });

  test.each([
    ['no Content-Type', []],
    ['a type that only begins like ours', ['content-type: application/jsonx']],
    ['another type first', ['content-type: text/plain', JSON_TYPE]],
  ])('with %s is refused', async (_what, headers) => {
    const body = bodyOf(0);
    const answer = await sendRaw('POST /join HTTP/1.1', [...headers, `content-length: ${body.length}`], body);
    expectText(answer, 400, 'invalid request: Content-Type must be application/json');
  });

  test.each([
    ['NUL', '{"username":"a\\u0000b"}', 'text may not hold NUL'],
    ['half a character', '{"username":"\\ud800"}', 'text may not hold half of a surrogate pair'],
    ['a byte order mark', `\ufeff${bodyOf(0)}`, 'the body is not JSON'],
    ['two values', bodyOf(0).repeat(2), 'the body is not JSON'],
    ['a member twice', '{"username":"a","key":{"x":"a","x":"b"}}', 'a member is given twice'],
    ['great depth', `${'['.repeat(2000)}${']'.repeat(2000)}`, 'the body is nested deeper than 32 levels'],
  ])('with %s is refused', async (_what, raw, why) => {
    expectText(
      await ask(`${app.url}/join`, 'POST', { key: await credentialWith(), raw }),
      400,
      `invalid request: ${why}`,
    );
  });

  test('made of anything is a join, or refused in one line', async () => {
    const { id, credential } = await createCredential(app, tenant, { rooms: ['a*'], default_room: 'a' });
    const key = deviceKey();
    const device = await thumbprint(key);
    const mostly = <T>(arbitrary: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 4, arbitrary }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) });
    const body = fc.record(
      {
        username: mostly(fc.constantFrom('ann', 'ＡＮＮ', 'a b', '')),
        key: mostly(fc.constant(key)),
        device: mostly(fc.constant(device)),
        room: mostly(fc.constantFrom('a', 'ab', 'b', 'a/b')),
        tenant: mostly(fc.constantFrom(tenant.id, 't_0000000000000000')),
        role: mostly(fc.constant(undefined)),
      },
      { requiredKeys: ['username'] },
    );
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(body, async (made) => {
        await app.service.deps.db.query('delete from rate_limits where key = $1', [`join:${id}`]);
        const answer = await ask(`${app.url}/join`, 'POST', { key: credential, body: made });
        seen.add(answer.status);
        if (answer.status === 200) expectJoined(answer);
        else {
          expect([400, 403]).toContain(answer.status);
          expectText(answer, answer.status, answer.text);
        }
      }),
      { numRuns: 300 },
    );
    expect([...seen].sort()).toStrictEqual([200, 400, 403]);
  });
});

describe('a method', () => {
  test.each(['TRACE', 'BREW', 'M-SEARCH', 'PUT', 'GET'])(
    '%s is not POST, whatever its headers',
    async (method) => {
      const head = ['x-http-method-override: POST', `authorization: Bearer ${await credentialWith()}`];
      const answer = await sendBytes(app.url, rawRequest(`${method} /join HTTP/1.1`, head));
      if (method === 'BREW') expect(answer.status).toBe(400);
      else expectText(answer, 405, 'method not allowed');
    },
  );
});

describe('a credential', () => {
  test.each([
    ['a tab', (credential: string) => [`authorization: Bearer\t${credential}`]],
    ['a list', (credential: string) => [`authorization: Bearer ${credential}, Bearer ${credential}`]],
    [
      'a second header, in another case',
      (credential: string) => [`authorization: Bearer ${credential}`, 'AUTHORIZATION: Basic eDp5'],
    ],
    [
      'an empty second header',
      (credential: string) => [`authorization: Bearer ${credential}`, 'authorization:'],
    ],
    ['bytes that are no text', () => ['authorization: Bearer \u00ff\u00fe']],
  ])('with %s is 401', async (_what, headers) => {
    const body = bodyOf(0);
    const head = [
      ...headers(await credentialWith()),
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    const answer = await sendBytes(app.url, rawRequest('POST /join HTTP/1.1', head, body));
    expectText(answer, 401, 'invalid api key');
  });

  test('in the query or in a cookie is ignored', async () => {
    const credential = await credentialWith();
    const headers = { cookie: `authorization=Bearer ${credential}` };
    const body = { username: 'ann', key: deviceKey() };
    const url = `${app.url}/join?access_token=${credential}`;
    expectText(await ask(url, 'POST', { body, headers }), 401, 'invalid api key');
  });

  test.each([
    [['de*mo'], 'demo', 200],
    [['de*mo'], 'de-x-mo', 200],
    [['de*mo'], 'de-x-mo2', 403],
    [['d.mo'], 'demo', 403],
    [['a-z'], 'm', 403],
  ])('for the rooms %j joins %s: %i', async (rooms, room, status) => {
    const answer = await join(app, await credentialWith({ rooms }), { room });
    expect([answer.status, answer.text]).toStrictEqual([status, expect.any(String)]);
  });
});

describe('an address that presents wrong credentials', () => {
  const direct = useService({ trustProxy: [] });
  const wrong = (at: number) => `dev_${at.toString(16).padStart(16, '0')}_${'A'.repeat(43)}`;

  /** A hundred wrong credentials, each from the address that `from` names. Returns the next answer. */
  async function exhaust(url: string, from: (at: number) => string) {
    const present = (at: number) =>
      join({ url }, wrong(at), {}, { headers: { 'x-forwarded-for': from(at) } });
    await Promise.all(Array.from({ length: 101 }, (_, at) => present(at)));
    return { next: () => present(101), headers: { 'x-forwarded-for': from(102) } };
  }

  test('is refused with its whole network, except for correct credentials', async () => {
    const { next, headers } = await exhaust(app.url, (at) => `2001:db8:1:2::${at.toString(16)}`);
    expectText(await next(), 429, 'too many failed api keys from this address');
    expectJoined(await join(app, await credentialWith(), {}, { headers }));
    const unknown = wrong(103);
    expectText(
      await join(app, unknown, {}, { headers: { 'x-forwarded-for': '2001:db8:1:3::1' } }),
      401,
      'invalid api key',
    );
  });

  test('gains nothing by forging addresses if no proxy is trusted', async () => {
    const { next } = await exhaust(direct.url, (at) => `192.0.2.${at}`);
    expectText(await next(), 429, 'too many failed api keys from this address');
  });
});
