/** What a client of a campaign can tell of a token. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import { thumbprintOf, withToken } from '../../faults/load/tokens.ts';
import type { Stage } from '../../faults/stage/stage.ts';

const [own, other] = [1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' }));
const KID = 'published';
let url: string;

beforeAll(async () => {
  const keys = [{ ...own!.publicKey.export({ format: 'jwk' }), kid: KID, alg: 'ES256', use: 'sig' }];
  const server = createServer((_, response) => response.end(JSON.stringify({ keys })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return () => server.close();
});

function tokenOf(key: KeyObject, header: object): string {
  const content = [header, { sub: 'ann' }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' });
  return `${content}.${signature.toString('base64url')}`;
}

const HEADER = { typ: 'participant+jwt', alg: 'ES256', kid: KID };

async function look(token: string, at = url) {
  const stage = { places: [{ service: { url: at } }] } as unknown as Stage;
  return (await withToken({ outcome: 'ok', answer: {} }, token, stage)).answer;
}

test('no key is published while no service answers', async () => {
  expect(await look(tokenOf(own!.privateKey, HEADER), 'http://127.0.0.1:1')).toEqual({
    claims: { sub: 'ann' },
  });
});

test.each([
  ['the published key', own!, HEADER, true],
  ['another key', other!, HEADER, false],
  ['a key that is not published', other!, { ...HEADER, kid: 'unknown' }, false],
  ['a header that brings its key', own!, { ...HEADER, jwk: {} }, false],
  ['no algorithm', own!, { ...HEADER, alg: 'none' }, false],
])('a token with %s', async (_, { privateKey }, header, signed) => {
  expect(await look(tokenOf(privateKey, header))).toEqual({ claims: { sub: 'ann' }, signed });
});

/** Source: RFC 9449, section 6.1, with the key of its section 4.1. */
test('a thumbprint is that of RFC 7638', () => {
  const key = {
    kty: 'EC',
    x: 'l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs',
    y: '9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA',
    crv: 'P-256',
  };
  expect(thumbprintOf(key)).toBe('0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I');
});
