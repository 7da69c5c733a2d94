import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { STYLE_ASSET } from '../../../src/doors/consoles/assets/assets.ts';
import { StaticFile } from '../../../src/doors/http/static-files.ts';
import { useService } from '../../support/service.ts';
import { rawRequest } from '../rest/support.ts';

const app = useService({ payments: false });
const BUNDLE = '/docs/static/swagger-ui-bundle.js';
const BUNDLE_BYTES = 1_684_244;

/** An answer as it was sent: `fetch` would decompress it. */
async function ask(path: string, headers: Record<string, string> = {}, method = 'GET') {
  const request = get(`${app.url}${path}`, { headers, method });
  const [answer] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode, headers: answer.headers, body: Buffer.concat(chunks) };
}

describe('a coding', () => {
  const file = new StaticFile('text/plain', 'x'.repeat(5_000));

  test.each([
    ['', undefined],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['br;q=0, gzip;q=0.1', 'gzip'],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['gzip;q=0.5, identity', undefined],
    ['GZIP; Q=1', 'gzip'],
    ['br;q=x', undefined],
    ['deflate', undefined],
  ])('of %j is %s', (accepted, coding) => {
    expect(file.codingFor(accepted)).toBe(coding);
  });

  test('is none for a small file', () => {
    expect(new StaticFile('text/plain', 'x').codingFor('br')).toBeUndefined();
  });

  test('is none for a picture that is compressed', () => {
    expect(new StaticFile('image/png', 'x'.repeat(5_000)).codingFor('br')).toBeUndefined();
  });

  test('is computed once', async () => {
    const [one, other] = await Promise.all([file.in('br'), file.in('br')]);
    expect(one).toBe(other);
    expect(await file.in('br')).toBe(one);
  });
});

describe.each([
  ['a file of the reference', BUNDLE],
  ['a file of the console', STYLE_ASSET.path],
])('%s', (_what, path) => {
  test('is sent in the coding that is asked for, each with a tag of its own', async () => {
    const plain = await ask(path);
    const br = await ask(path, { 'accept-encoding': 'gzip, br' });
    const gzip = await ask(path, { 'accept-encoding': 'gzip' });
    expect(brotliDecompressSync(br.body)).toEqual(plain.body);
    expect(gunzipSync(gzip.body)).toEqual(plain.body);
    for (const each of [plain, br, gzip]) {
      expect(each.headers).toMatchObject({ vary: 'accept-encoding', 'x-content-type-options': 'nosniff' });
      expect(each.headers['content-length']).toBe(String(each.body.length));
    }
    expect(br.headers['content-encoding']).toBe('br');
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(new Set([plain, br, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
  });

  test('is not sent again to who has it', async () => {
    const { headers } = await ask(path);
    const { etag } = headers as { etag: string };
    for (const known of [etag, `"other", W/${etag}`, '*']) {
      const again = await ask(path, { 'if-none-match': known });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
    }
    expect((await ask(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('has the same head without its body', async () => {
    const [whole, head] = [await ask(path), await ask(path, {}, 'HEAD')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(whole.headers['content-length']);
  });
});

test('an address that names the version is kept for ever, another one for an hour', async () => {
  const page = (await ask('/docs/rest')).body.toString();
  const [address] = page.match(/\/docs\/static\/swagger-ui-bundle\.js\?v=\w+/)!;
  const forEver = 'public, max-age=31536000, immutable';
  expect((await ask(address)).headers['cache-control']).toBe(forEver);
  expect((await ask(`${BUNDLE}?v=0`)).headers['cache-control']).toBe('public, max-age=3600');
  expect((await ask(BUNDLE)).headers['cache-control']).toBe('public, max-age=3600');
  expect((await ask(STYLE_ASSET.path)).headers['cache-control']).toBe(forEver);
  expect((await ask('/openapi.json')).headers['cache-control']).toBe('no-store');
  expect((await ask('/docs/rest')).headers['cache-control']).toBe('no-store');
});

test('readers who take nothing share one copy of a file', async () => {
  await ask(BUNDLE);
  const { port } = new URL(app.url);
  const clients = Array.from({ length: 100 }, () => connect(Number(port), '127.0.0.1'));
  onTestFinished(() => clients.forEach((client) => void client.destroy()));
  const before = process.memoryUsage().arrayBuffers;
  const heads = clients.map((client) => {
    client.write(rawRequest(`GET ${BUNDLE} HTTP/1.1`));
    return once(client, 'readable');
  });
  await Promise.all(heads);
  await turn();
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * BUNDLE_BYTES);
});
