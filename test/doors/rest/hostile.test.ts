/** Hostile requests, written to the wire by hand. */
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestTenant, useService } from '../../support/service.ts';
import { setLimits } from '../../support/tenants.ts';
import { expectCommonHeaders, expectError, expectOk, rawRequest, sendBytes } from './support.ts';

const app = useService();
let tenant: TestTenant;

beforeAll(async () => {
  tenant = await app.signUp();
  await setLimits(app.service.deps.db, tenant, { api_keys: 1_000 });
});

const create = (raw: string | Uint8Array, headers: Record<string, string> = {}) =>
  app.request('POST', '/v1/keys', { key: tenant.key, raw, headers });
const authorization = () => `authorization: Bearer ${tenant.key}`;
const json = 'content-type: application/json';
const post = (headers: readonly string[], body = '') =>
  rawRequest('POST /v1/keys HTTP/1.1', [authorization(), ...headers], body);
const good = '{"name":"x"}';
const refused = 'invalid request: ';

describe('Content-Type', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'Application/JSON',
    'application/json; other=1',
  ])('%s is read', async (type) => {
    expectOk(await create(good, { 'content-type': type }), 201);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    'application/json-patch+json',
    'application/vnd.api+json',
    'text/json',
    'xapplication/json',
    'application/',
    'json',
    '*/*',
    ',',
  ])('%s is refused', async (type) => {
    expectError(
      await create(good, { 'content-type': type }),
      400,
      `${refused}Content-Type must be application/json`,
    );
  });

  test.each(['latin1', 'utf-16', 'us-ascii', '"utf-16le"', 'utf-8x', 'x-utf-8'])(
    'charset %s is refused',
    async (charset) => {
      const answer = await create(good, { 'content-type': `application/json; charset=${charset}` });
      expectError(answer, 400, `${refused}charset must be utf-8`);
    },
  );

  test('a body without one is refused', async () => {
    const answer = await sendBytes(app.url, post([`content-length: ${good.length}`], good));
    expectError(answer, 400, `${refused}Content-Type must be application/json`);
  });
});

describe('Content-Encoding', () => {
  test.each(['gzip', 'deflate', 'br', 'zstd', 'x', 'identity, gzip', ''])(
    '%j is refused',
    async (encoding) => {
      const answer = await create(gzipSync(good), { 'content-encoding': encoding });
      expectError(answer, 400, `${refused}the body may not be compressed`);
    },
  );

  test('identity is accepted', async () => {
    expectOk(await create(good, { 'content-encoding': 'identity' }), 201);
  });
});

describe('JSON', () => {
  test.each([
    ['', 'the body is not JSON'],
    [' ', 'the body is not JSON'],
    ['{', 'the body is not JSON'],
    ['{"name":"x"', 'the body is not JSON'],
    ['{"name":"x"}}', 'the body is not JSON'],
    ['{"name":"x"} {}', 'the body is not JSON'],
    ['{"name":"x",}', 'the body is not JSON'],
    ["{'name':'x'}", 'the body is not JSON'],
    ['{name:"x"}', 'the body is not JSON'],
    ['{"name":"x" /* comment */}', 'the body is not JSON'],
    ['{"name":NaN}', 'the body is not JSON'],
    ['{"name":undefined}', 'the body is not JSON'],
    ['{"name":"a\nb"}', 'the body is not JSON'],
    ['{"name":"\u0000"}', 'the body is not JSON'],
    ['{"name":"\\x41"}', 'the body is not JSON'],
    ['{"name":01}', 'the body is not JSON'],
    ['{"name":+1}', 'the body is not JSON'],
    ['{"name":.5}', 'the body is not JSON'],
    ['{"name":1.}', 'the body is not JSON'],
    ['\ufeff{"name":"x"}', 'the body is not JSON'],
    ['{"name":"x","name":"x"}', 'a member is given twice'],
    ['{"name":"x","n\\u0061me":"y"}', 'a member is given twice'],
    ['{"a":{"b":1,"b":2},"name":"x"}', 'a member is given twice'],
    ['{"name":"x","__proto__":{}}', 'a member may not be called __proto__'],
    ['{"name":"x","__proto__":null}', 'a member may not be called __proto__'],
    ['{"name":"x","\\u005f_proto__":{"kind":"relay"}}', 'a member may not be called __proto__'],
    ['{"name":"x","a":[{"__proto__":1}]}', 'a member may not be called __proto__'],
    ['{"name":"x","constructor":{"prototype":{"kind":"relay"}}}', 'constructor is not a known field'],
    ['{"name":"x","toString":1}', 'toString is not a known field'],
    ['{"name":"x","":1}', ' is not a known field'],
    ['{"name":"a\\u0000b"}', 'text may not hold NUL'],
    ['{"a\\u0000b":1}', 'text may not hold NUL'],
    ['{"name":"\\ud800"}', 'text may not hold half of a surrogate pair'],
    ['{"name":"\\udc00\\ud800"}', 'text may not hold half of a surrogate pair'],
    ['{"\\udfff":1}', 'text may not hold half of a surrogate pair'],
    ['{"name":1e400}', 'the number 1e400 of name is out of range'],
    ['{"name":9007199254740993}', 'the number 9007199254740993 of name is out of range'],
  ])('%j is refused', async (raw, what) => {
    expectError(await create(raw), 400, `${refused}${what}`);
  });

  test('an escaped pair of surrogates is one character', async () => {
    expect(expectOk(await create('{"name":"\\ud83d\\ude00"}'), 201).key.name).toBe('😀');
  });

  test.each([
    ['a lone continuation byte', [0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a character beyond Unicode', [0xf4, 0x90, 0x80, 0x80]],
    ['half of a character', [0xf0, 0x9f]],
    ['the mark of UTF-16', [0xff, 0xfe]],
  ])('%s is refused', async (_what, bytes) => {
    const raw = Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')]);
    expectError(await create(raw), 400, `${refused}the body is not UTF-8`);
  });

  test('32 levels are read, 33 are not, nor are half a million', async () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expectError(await create(nested(32)), 400, `${refused}body must be object`);
    const tooDeep = `${refused}the body is nested deeper than 32 levels`;
    expectError(await create(nested(33)), 400, tooDeep);
    expectError(await create('['.repeat(500_000)), 400, tooDeep);
    expectError(await create('{"a":'.repeat(200_000)), 400, tooDeep);
  });

  test('a thousand members take linear time, and no message lists them all', async () => {
    const many = JSON.stringify(
      Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`field${at}`, at])),
    );
    const answer = await create(many);
    expect(answer.status).toBe(400);
    const long = await create(JSON.stringify({ ['x'.repeat(100_000)]: 1, name: 'x' }));
    expect(long.status).toBe(400);
    expect(long.text.length).toBeLessThan(300);
  });

  test('markup in the name of a field comes back as JSON, not as a page', async () => {
    const answer = await create('{"<script>alert(1)</script>":1,"name":"x"}');
    expectError(answer, 400, `${refused}<script>alert(1)</script> is not a known field`);
  });
});

describe('the size of a body', () => {
  const chunked = (...chunks: string[]) =>
    `${chunks.map((chunk) => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`;

  test('a chunked body is read', async () => {
    const answer = await sendBytes(
      app.url,
      post([json, 'transfer-encoding: chunked'], chunked('{"na', 'me":"x"}')),
    );
    expectOk(answer, 201);
  });

  test('a chunked body of more than 1 MiB is refused', async () => {
    const body = chunked('{"name":"x"}', ...Array.from({ length: 17 }, () => ' '.repeat(65_536)));
    const answer = await sendBytes(app.url, post([json, 'transfer-encoding: chunked'], body));
    expectError(answer, 400, `${refused}body exceeds 1 MiB`);
  });

  test('a body announced to be larger than 1 MiB is refused before it comes', async () => {
    const answer = await sendBytes(app.url, post([json, 'content-length: 1048577'], '{'));
    expectError(answer, 400, `${refused}body exceeds 1 MiB`);
  });

  test('a client that disconnects in the middle of its body has no effect on others', async () => {
    await expect(
      sendBytes(app.url, post([json, 'content-length: 100'], '{"name":'), { withinMs: 100 }),
    ).rejects.toThrow();
    expectOk(await create(good), 201);
  });
});

describe('the head of a request', () => {
  const expectClientError = (answer: Awaited<ReturnType<typeof sendBytes>>, what: string) => {
    expectError(answer, 400, `${refused}${what}`);
    expect(answer.headers.get('connection')).toBe('close');
  };

  test.each([
    ['a line of text', 'hello\r\n\r\n'],
    ['TLS', Buffer.from('16030100f8010000f40303', 'hex')],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['NUL bytes', Buffer.alloc(64)],
    ['a method that does not exist', rawRequest('BREW /v1/rates HTTP/1.1')],
    ['a version that does not exist', rawRequest('GET /v1/rates HTTP/9.9')],
    ['a space in the path', rawRequest('GET /v1/rates x HTTP/1.1')],
    ['bytes in the path that are not ASCII', rawRequest('GET /v1/r\u00e4tes HTTP/1.1')],
    ['a space before the colon', rawRequest('GET /v1/rates HTTP/1.1', ['x : y'])],
    ['a header that goes on in the next line', rawRequest('GET /v1/rates HTTP/1.1', ['x: y', ' z'])],
    ['NUL in a header', rawRequest('GET /v1/rates HTTP/1.1', ['x: a\u0000b'])],
    [
      'two lengths',
      rawRequest('POST /v1/keys HTTP/1.1', [json, 'content-length: 2', 'content-length: 12'], good),
    ],
    [
      'a length and chunks',
      rawRequest(
        'POST /v1/keys HTTP/1.1',
        [json, 'content-length: 2', 'transfer-encoding: chunked'],
        '0\r\n\r\n',
      ),
    ],
    ['a length that is no number', rawRequest('POST /v1/keys HTTP/1.1', [json, 'content-length: x'])],
    ['a negative length', rawRequest('POST /v1/keys HTTP/1.1', [json, 'content-length: -1'])],
    [
      'an unknown transfer encoding',
      rawRequest('POST /v1/keys HTTP/1.1', [json, 'transfer-encoding: x'], good),
    ],
  ])('%s: 400', async (_what, bytes) => {
    expectClientError(await sendBytes(app.url, bytes), 'this is not an HTTP request');
  });

  test('malformed chunks: 400', async () => {
    const answer = await sendBytes(app.url, post([json, 'transfer-encoding: chunked'], 'zz\r\n'));
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatch(/^invalid request: /);
    expectCommonHeaders(answer);
  });

  test('HTTP/1.1 without a Host: 400', async () => {
    const answer = await sendBytes(app.url, 'GET /v1/rates HTTP/1.1\r\n\r\n');
    expectError(answer, 400, `${refused}the Host header is required`);
  });

  test('HTTP/1.0 needs no Host', async () => {
    expectOk(await sendBytes(app.url, 'GET /v1/rates HTTP/1.0\r\n\r\n'));
  });

  test('16 KiB of headers: 400', async () => {
    const answer = await sendBytes(app.url, rawRequest('GET /v1/rates HTTP/1.1', { x: 'y'.repeat(16_384) }));
    expectClientError(answer, 'the head of the request is too large');
    expectOk(await sendBytes(app.url, rawRequest('GET /v1/rates HTTP/1.1', { x: 'y'.repeat(15_000) })));
  });

  test('a path of 20,000 characters: 400', async () => {
    const answer = await sendBytes(app.url, rawRequest(`GET /${'a'.repeat(20_000)} HTTP/1.1`));
    expectClientError(answer, 'the head of the request is too large');
  });

  test('thousands of headers have no effect on others', async () => {
    const headers = Array.from({ length: 3000 }, (_, at) => `h${at}:`);
    const answer = await sendBytes(app.url, rawRequest('GET /v1/rates HTTP/1.1', headers));
    expect([200, 400]).toContain(answer.status);
    expectCommonHeaders(answer);
  });

  test('an unknown expectation is ignored', async () => {
    expectOk(await sendBytes(app.url, post([json, 'expect: miracles', 'content-length: 12'], good)), 201);
  });

  test('Expect: 100-continue is answered with 100', async () => {
    const answer = await sendBytes(app.url, post([json, 'expect: 100-continue', 'content-length: 12']));
    expect(answer.status).toBe(100);
  });

  test('an Upgrade request is answered over HTTP/1.1', async () => {
    const upgrade = [
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: eA==',
    ];
    expectOk(await sendBytes(app.url, rawRequest('GET /v1/rates HTTP/1.1', upgrade)));
  });
});
