import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, type JWK, jwtVerify } from 'jose';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  createDevice,
  EncryptionRequiredError,
  generateDeviceKey,
  JoinError,
  type KeyStore,
} from '../../../sdk/typescript/src/device/index.ts';
import { type Answer, type JoinCall, ManualTimers, startJoinEndpoint } from './support.ts';

const NOW_MS = 1_800_000_000_000;
const open: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function endpoint(answer: (call: JoinCall, count: number) => Answer | 'hang up') {
  const started = await startJoinEndpoint(answer);
  open.push(started.close);
  return started;
}

function granted(device: string, changes: object = {}): Answer {
  const answer = {
    token: 'header.claims.signature',
    expiresAt: '2027-01-15T08:10:00.000Z',
    room: 'lobby',
    username: 'ann',
    keyId: 'kid',
    device,
  };
  return { status: 200, body: JSON.stringify({ ...answer, ...changes }) };
}

const request = (url: string) => ({
  url,
  credential: 'dev_0123456789abcdef_secret',
  username: 'Ann',
  room: 'lobby',
});

describe('the key', () => {
  test('is a P-256 key that cannot be exported, another for each device', async () => {
    const key = await generateDeviceKey();
    expect(key.privateKey.extractable).toBe(false);
    expect(key.privateKey.algorithm).toMatchObject({ name: 'ECDSA', namedCurve: 'P-256' });
    const [one, other] = [await createDevice(), await createDevice()];
    expect(one.thumbprint).not.toBe(other.thumbprint);
    expect(one.thumbprint).toBe(await calculateJwkThumbprint(one.publicJwk as JWK));
  });

  test('is the one that the caller passes', async () => {
    const key = await generateDeviceKey();
    const [one, other] = [await createDevice({ key }), await createDevice({ key })];
    expect(one.thumbprint).toBe(other.thumbprint);
  });

  test('is the one in the store', async () => {
    let kept: CryptoKeyPair | undefined;
    const store: KeyStore = { keep: async (candidate) => (kept ??= candidate) };
    const [one, other] = await Promise.all([createDevice({ store }), createDevice({ store })]);
    expect(one.thumbprint).toBe(other.thumbprint);
  });

  test('of another curve is refused', async () => {
    const algorithm = { name: 'ECDSA', namedCurve: 'P-384' };
    const key = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
    await expect(createDevice({ key })).rejects.toThrow(TypeError);
  });
});

describe('join', () => {
  test('sends only the public key, and returns the answer', async () => {
    const device = await createDevice();
    const { url, calls } = await endpoint(() => granted(device.thumbprint));
    expect(await device.join(request(url))).toEqual({
      token: 'header.claims.signature',
      expiresAt: new Date('2027-01-15T08:10:00.000Z'),
      room: 'lobby',
      username: 'ann',
      keyId: 'kid',
      device: device.thumbprint,
    });
    expect(calls).toMatchObject([
      {
        path: '/join',
        method: 'POST',
        headers: { authorization: 'Bearer dev_0123456789abcdef_secret', 'content-type': 'application/json' },
      },
    ]);
    expect(calls[0]?.body).toEqual({ username: 'Ann', room: 'lobby', key: device.publicJwk });
    expect(Object.keys(device.publicJwk)).toEqual(['kty', 'crv', 'x', 'y']);
  });

  test.each(['', '/', '/join', '/join/', '/base', '/base/join'])(
    'takes an address that ends with "%s"',
    async (end) => {
      const device = await createDevice();
      const { url, calls } = await endpoint(() => granted(device.thumbprint));
      await device.join(request(`${url}${end}`));
      expect(calls.map(({ path }) => path)).toEqual([end.startsWith('/base') ? '/base/join' : '/join']);
    },
  );

  test.each([
    [400, 'INVALID', 'invalid request: username must be 1 to 64 characters'],
    [401, 'UNAUTHENTICATED', 'invalid device credential'],
    [402, 'NO_CREDIT', 'insufficient credit: top up to admit new sessions'],
    [402, 'BUDGET_REACHED', 'budget reached: acme-monthly has too little left for this session'],
    [403, 'DENIED', 'permission denied'],
    [404, 'NOT_FOUND', 'not found'],
    [405, 'METHOD_NOT_ALLOWED', 'method not allowed'],
    [409, 'PRECONDITION_FAILED', 'room has ended'],
    [418, 'BAD_ANSWER', 'teapot'],
  ])('%i is %s, and is not tried again', async (status, code, body) => {
    const device = await createDevice();
    const { url, calls } = await endpoint(() => ({ status, body: `${body}\n` }));
    const error = await device.join(request(url)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(JoinError);
    expect(error).toMatchObject({ code, status, message: body, retryable: false });
    expect(calls).toHaveLength(1);
  });

  test.each([
    ['no JSON', { status: 200, body: '<html>' }],
    ['null', { status: 200, body: 'null' }],
    ['no token', granted('x', { token: undefined })],
    ['no time', granted('x', { expiresAt: 'soon' })],
    ['a token for another device', granted('x')],
  ])('200 with %s is BAD_ANSWER', async (_, answer) => {
    const device = await createDevice();
    const { url } = await endpoint(() => answer);
    await expect(device.join(request(url))).rejects.toMatchObject({ code: 'BAD_ANSWER' });
  });

  test('does not follow a redirection with its credential', async () => {
    const timers = new ManualTimers(NOW_MS);
    const device = await createDevice({ timers });
    const moved = { status: 307, headers: { location: '/elsewhere' }, body: '' };
    const { url, calls } = await endpoint((_, count) => (count === 1 ? moved : granted(device.thumbprint)));
    const joining = device.join(request(url));
    await expect.poll(() => timers.waits[0]).toBeLessThanOrEqual(1_000);
    await timers.advance(1_000);
    await joining;
    expect(calls.map(({ path }) => path)).toEqual(['/join', '/join']);
  });
});

describe('join, after temporary failures', () => {
  test.each<[string, Answer | 'hang up']>([
    ['429', { status: 429, headers: { 'retry-after': '7' }, body: 'too many joins' }],
    ['503', { status: 503, headers: { 'retry-after': '7' }, body: 'temporarily unavailable' }],
    ['504', { status: 504, headers: { 'retry-after': '7' }, body: 'deadline exceeded' }],
  ])('%s waits as long as asked, plus a random delay', async (_, answer) => {
    const timers = new ManualTimers(NOW_MS);
    const device = await createDevice({ timers });
    const { url, calls } = await endpoint((_call, count) =>
      count === 1 ? answer : granted(device.thumbprint),
    );
    const joining = device.join(request(url));
    await expect.poll(() => timers.waits[0]).toBeLessThanOrEqual(8_000);
    await timers.advance(7_499);
    expect(calls).toHaveLength(1);
    await timers.advance(501);
    expect((await joining).username).toBe('ann');
    expect(timers.waits).toEqual([]);
  });

  test.each<[string, Answer | 'hang up']>([
    ['503 without Retry-After', { status: 503, body: '' }],
    ['500', { status: 500, body: 'internal error' }],
    ["a proxy's 502", { status: 502, body: '<html>' }],
    [
      '503 with a Retry-After that is no number',
      { status: 503, headers: { 'retry-after': 'later' }, body: '' },
    ],
    ['no answer', 'hang up'],
  ])('%s waits longer each time, at random', async (_, answer) => {
    const timers = new ManualTimers(NOW_MS);
    const device = await createDevice({ timers });
    const { url } = await endpoint((_call, count) => (count <= 3 ? answer : granted(device.thumbprint)));
    const joining = device.join(request(url));
    for (const ceilingMs of [1_000, 2_000, 4_000]) {
      await vi.waitFor(() => {
        expect(timers.waits).toHaveLength(1);
        expect(timers.waits[0]).toBeLessThanOrEqual(ceilingMs);
        expect(timers.waits[0]).toBeGreaterThanOrEqual(ceilingMs / 2);
      }, 60_000);
      await timers.advance(timers.waits[0]!);
    }
    expect((await joining).username).toBe('ann');
  });

  test('gives up rather than wait beyond a minute', async () => {
    const timers = new ManualTimers(NOW_MS);
    const device = await createDevice({ timers });
    const answer = { status: 429, headers: { 'retry-after': '60' }, body: 'too many joins' };
    const { url, calls } = await endpoint(() => answer);
    const error = { code: 'RATE_LIMITED', status: 429, retryable: true, retryAfterSeconds: 60 };
    await expect(device.join(request(url))).rejects.toMatchObject(error);
    expect(calls).toHaveLength(1);
  });

  test('gives up on an answer after 20 seconds', async () => {
    const timers = new ManualTimers(NOW_MS);
    const device = await createDevice({
      timers,
      fetch: (_url, init) =>
        new Promise((_resolve, reject) =>
          init?.signal?.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))),
        ),
    });
    const outcome = expect(device.join(request('http://nowhere.example'))).rejects.toMatchObject({
      code: 'NETWORK',
    });
    expect(timers.waits).toEqual([20_000]);
    await untilSettled(outcome, timers);
  });

  test('stops when it is aborted', async () => {
    const timers = new ManualTimers(NOW_MS);
    const device = await createDevice({ timers });
    const { url, calls } = await endpoint(() => ({ status: 503, body: 'temporarily unavailable' }));
    const abort = new AbortController();
    const outcome = expect(device.join(request(url), { signal: abort.signal })).rejects.toMatchObject({
      status: 503,
    });
    await expect.poll(() => timers.waits[0]).toBeLessThanOrEqual(1_000);
    abort.abort();
    await outcome;
    expect(timers.waits).toEqual([]);
    expect(calls).toHaveLength(1);
  });
});

describe('join of a web page, when the browser tells nothing', () => {
  const KEYS = 'https://join.example/.well-known/jwks.json';
  const JOIN = 'https://join.example/join';

  /** A browser on `https://app.example` in which `answers` says what each request gets; an error without one. */
  async function joinInBrowser(
    answers: Record<string, (Response | undefined)[]>,
    origin = 'https://app.example',
  ) {
    vi.stubGlobal('location', { origin });
    const asked: string[] = [];
    const fetchInBrowser: typeof fetch = async (input) => {
      const url = String(input);
      asked.push(url);
      const answer = answers[url]?.shift();
      if (!answer) throw new TypeError('Failed to fetch');
      return answer;
    };
    const device = await createDevice({ fetch: fetchInBrowser });
    // Aborted from the start: it makes one attempt, and waits for no other.
    const options = { signal: AbortSignal.abort() };
    const error = await device.join(request('https://join.example'), options).catch((thrown) => thrown);
    vi.unstubAllGlobals();
    return { error, asked };
  }

  test('a page whose origin is refused is told so at once', async () => {
    const { error, asked } = await joinInBrowser({ [KEYS]: [Response.json({ keys: [] })] });
    expect(error).toMatchObject({
      code: 'ORIGIN_REFUSED',
      retryable: false,
      message: 'the join endpoint does not allow pages of https://app.example',
    });
    expect(asked).toEqual([JOIN, KEYS, JOIN]);
  });

  test('a network that has just come back is no refusal', async () => {
    const { error, asked } = await joinInBrowser({
      [JOIN]: [undefined, new Response('room has ended', { status: 409 })],
      [KEYS]: [Response.json({ keys: [] })],
    });
    expect(error).toMatchObject({ code: 'PRECONDITION_FAILED' });
    expect(asked).toEqual([JOIN, KEYS, JOIN]);
  });

  test.each([
    ['the host is away', undefined],
    ['a proxy answers for it', new Response('', { status: 502 })],
  ])('it is tried again when %s', async (_, keys) => {
    const { error } = await joinInBrowser({ [KEYS]: [keys] });
    expect(error).toMatchObject({ code: 'NETWORK', retryable: true });
  });

  test('a page of the same origin has nothing to ask', async () => {
    const { error, asked } = await joinInBrowser({}, 'https://join.example');
    expect(error).toMatchObject({ code: 'NETWORK' });
    expect(asked).toEqual([JOIN]);
  });
});

describe('proof', () => {
  test('is a JWS of the device over token, relay, challenge and certificate', async () => {
    const device = await createDevice({ timers: new ManualTimers(NOW_MS) });
    const asked = {
      token: 'header.claims.signature',
      challenge: 'challenge',
      url: 'https://relay.example/connect?token=secret#part',
      method: 'CONNECT',
      dtlsFingerprint: 'AB:CD',
    };
    const proof = await device.proof(asked);
    const { payload } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      currentDate: new Date(NOW_MS),
    });
    expect(decodeProtectedHeader(proof)).toEqual({ typ: 'dpop+jwt', alg: 'ES256', jwk: device.publicJwk });
    expect(payload).toEqual({
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      htm: 'CONNECT',
      htu: 'https://relay.example/connect',
      iat: NOW_MS / 1000,
      ath: createHash('sha256').update(asked.token).digest('base64url'),
      nonce: 'challenge',
      dtls_fp: 'ab:cd',
    });
  });
});

test('missing encryption has a type and a code', () => {
  expect(new EncryptionRequiredError()).toMatchObject({
    name: 'EncryptionRequiredError',
    code: 'encryptionRequired',
  });
});

test('the device part imports only itself, and nothing of Node', () => {
  const folder = new URL('../../../sdk/typescript/src/device/', import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'));
  expect(sources.length).toBeGreaterThan(5);
  for (const source of sources) {
    for (const [, from] of source.matchAll(/\bfrom '([^']+)'/g))
      expect(from).toMatch(/^(\.\/(encryption\/)?|\.\.\/)[a-z0-9-]+\.ts$/);
    expect(source).not.toMatch(/\b(Buffer|process|require|node:|import\()\b/);
  }
});

/** Advance time, timer by timer, until the promise settles. */
async function untilSettled(promise: Promise<unknown>, timers: ManualTimers): Promise<void> {
  let settled = false;
  const done = promise.finally(() => {
    settled = true;
  });
  await vi.waitFor(async () => {
    await timers.advance(timers.waits[0] ?? 0);
    expect(settled).toBe(true);
  }, 60_000);
  await done;
}
