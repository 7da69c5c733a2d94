import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { calculateJwkThumbprint, type JWK } from 'jose';
import { afterEach, describe, expect, test } from 'vitest';
import {
  attemptWith,
  codeOf,
  createRelay,
  jwks,
  keyNamed,
  mint,
  NOW_SECONDS,
  prove,
  publicOf,
} from './support.ts';

const JWKS_URL = 'https://boxoffice.example/.well-known/jwks.json';

/** The service's JWKS, the number of its fetches, and a relay that uses it. */
function createScene() {
  const scene = {
    nowMs: NOW_SECONDS * 1000,
    fetches: 0,
    keys: jwks.keys as JWK[],
    answer: async (): Promise<Response> => Response.json({ keys: scene.keys }),
  };
  const relay = createRelay({
    jwks: undefined as never,
    jwksUrl: JWKS_URL,
    clock: { now: () => scene.nowMs - NOW_SECONDS * 1000, wallNow: () => scene.nowMs },
    fetch: async (url) => {
      expect(url).toBe(JWKS_URL);
      scene.fetches += 1;
      return await scene.answer();
    },
  });
  /** The refusal code of a freshly minted token. */
  async function arrive(header: object = {}, key?: JWK): Promise<string | undefined> {
    const seconds = Math.floor(scene.nowMs / 1000);
    const claims = { iat: seconds, nbf: seconds, exp: seconds + 600 };
    const token = await mint(claims, { ...header }, key);
    const challenge = relay.challenge();
    return await codeOf(relay.verify(attemptWith(token, await prove(token, challenge), challenge)));
  }
  return Object.assign(scene, { arrive });
}

const nextKey = keyNamed('boxoffice test vectors: next signing key');
const nextKid = await calculateJwkThumbprint(publicOf(nextKey));
const nextJwk = { ...publicOf(nextKey), kid: nextKid, alg: 'ES256', use: 'sig' };

describe('the cache of signing keys', () => {
  test('is filled by one fetch, however many tokens come at once', async () => {
    const scene = createScene();
    const codes = await Promise.all(Array.from({ length: 20 }, () => scene.arrive()));
    expect(codes).toEqual(Array.from({ length: 20 }));
    expect(scene.fetches).toBe(1);
  });

  test('serves for ten minutes, then drops a key that was removed', async () => {
    const scene = createScene();
    expect(await scene.arrive()).toBeUndefined();
    scene.keys = [nextJwk];
    scene.nowMs += 599_000;
    expect(await scene.arrive()).toBeUndefined();
    expect(scene.fetches).toBe(1);
    scene.nowMs += 1_000;
    expect(await scene.arrive()).toBe('TOKEN_UNKNOWN_KEY');
    expect(scene.fetches).toBe(2);
  });

  test('asks at once for a key that it lacks, but not again within 30 seconds', async () => {
    const scene = createScene();
    expect(await scene.arrive()).toBeUndefined();
    scene.nowMs += 30_000;
    expect(await scene.arrive({ kid: 'nobody' })).toBe('TOKEN_UNKNOWN_KEY');
    expect(scene.fetches).toBe(2);

    scene.keys = [...scene.keys, nextJwk];
    scene.nowMs += 29_999;
    expect(await scene.arrive({ kid: nextKid }, nextKey)).toBe('TOKEN_UNKNOWN_KEY');
    expect(scene.fetches).toBe(2);
    scene.nowMs += 1;
    expect(await scene.arrive({ kid: nextKid }, nextKey)).toBeUndefined();
    expect(await scene.arrive()).toBeUndefined();
    expect(scene.fetches).toBe(3);
  });

  test.each([
    ['is away', async () => Promise.reject(new TypeError('fetch failed'))],
    ['answers 500', async () => new Response('internal error', { status: 500 })],
    ['answers no JSON', async () => new Response('<html>')],
    ['answers no key set', async () => Response.json({ keys: {} })],
  ])('serves for an hour while the service %s', async (_, answer) => {
    const scene = createScene();
    expect(await scene.arrive()).toBeUndefined();
    scene.answer = answer;
    scene.nowMs += 3_599_000;
    expect(await scene.arrive()).toBeUndefined();
    scene.nowMs += 1_000;
    expect(await scene.arrive()).toBe('KEYS_UNAVAILABLE');
    expect(scene.fetches).toBe(2);
  });

  test('may be slow to fill, but a token that expires meanwhile is refused', async () => {
    const scene = createScene();
    scene.answer = async () => {
      scene.nowMs += 600_000;
      return Response.json({ keys: scene.keys });
    };
    expect(await scene.arrive()).toBe('TOKEN_EXPIRED');
  });

  test('recovers from a start without the service', async () => {
    const scene = createScene();
    const { answer } = scene;
    scene.answer = async () => Promise.reject(new TypeError('fetch failed'));
    expect(await scene.arrive()).toBe('KEYS_UNAVAILABLE');
    expect(await scene.arrive()).toBe('KEYS_UNAVAILABLE');
    expect(scene.fetches).toBe(1);
    scene.answer = answer;
    scene.nowMs += 30_000;
    expect(await scene.arrive()).toBeUndefined();
  });

  test.each([
    ['of another curve', { ...nextJwk, crv: 'P-384' }],
    ['off the curve', { ...nextJwk, y: nextJwk.x }],
    ['for another algorithm', { ...nextJwk, alg: 'ES384' }],
    ['for encryption', { ...nextJwk, use: 'enc' }],
    ['with a private half', { ...nextJwk, d: nextKey.d }],
  ])('passes over a key %s', async (_, jwk) => {
    const scene = createScene();
    scene.keys = [jwk as JWK, ...scene.keys];
    expect(await scene.arrive()).toBeUndefined();
    expect(await scene.arrive({ kid: nextKid }, nextKey)).toBe('TOKEN_UNKNOWN_KEY');
  });
});

describe('over real HTTP', () => {
  const server = createServer((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/keys' }).end();
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(jwks));
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });

  test.each([
    ['fetches the keys', '/keys', undefined],
    ['follows no redirection', '/moved', 'KEYS_UNAVAILABLE'],
  ])('%s', async (_, path, code) => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    const relay = createRelay({ jwks: undefined as never, jwksUrl, fetch });
    const [token, challenge] = [await mint(), relay.challenge()];
    expect(await codeOf(relay.verify(attemptWith(token, await prove(token, challenge), challenge)))).toBe(
      code,
    );
  });
});
