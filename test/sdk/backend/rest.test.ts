/** Which requests are repeated, and which never are. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type Boxoffice, signUp } from '../../../sdk/typescript/src/backend/index.ts';
import { client, errorOf, onEnd } from './support.ts';

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  onEnd(() => void vi.restoreAllMocks());
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** A client whose requests get `answers` in turn, then the last one repeatedly. An answer that throws is lost. */
function clientOf(...answers: (() => Response | Promise<Response>)[]) {
  const sent: Sent[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    const { pathname, search } = new URL(String(url));
    const body = init?.body === undefined ? undefined : JSON.parse(String(init.body));
    sent.push({ method: init?.method ?? '', path: pathname + search, body });
    return await answers[Math.min(sent.length, answers.length) - 1]!();
  };
  return { sent, boxoffice: client({ url: 'https://boxoffice.example/', fetch }) };
}

const lost = () => {
  throw new TypeError('fetch failed');
};
const status = (code: number, headers: Record<string, string> = {}) => {
  return () => Response.json({ error: 'why' }, { status: code, headers });
};

const REPEATABLE: [string, (boxoffice: Boxoffice) => Promise<unknown>, () => Response][] = [
  ['GET', (boxoffice) => boxoffice.keys.list(), () => Response.json({ keys: [] })],
  ['DELETE', (boxoffice) => boxoffice.keys.revoke({ id: 'x' }), () => new Response(null, { status: 204 })],
  ['PUT', (boxoffice) => boxoffice.billing.setAutoTopUp({ enabled: false }), () => Response.json({})],
  ['POST of usage', (boxoffice) => boxoffice.usage.report([]), () => Response.json({})],
];
const ONCE: [string, (boxoffice: Boxoffice) => Promise<unknown>][] = [
  ['keys.create', (boxoffice) => boxoffice.keys.create({ name: 'x' })],
  ['keys.rotate', (boxoffice) => boxoffice.keys.rotate({ id: 'x' })],
  ['billing.checkout', (boxoffice) => boxoffice.billing.checkout({ amountCents: 1000 })],
  ['billing.portal', (boxoffice) => boxoffice.billing.portal()],
];

describe.each(REPEATABLE)('%s', (_, call, answer) => {
  test.each([
    ['a lost answer', lost],
    ['500', status(500)],
    ['502', status(502)],
    ['503', status(503)],
    ['504', status(504)],
  ])('is sent again after %s', async (_, failing) => {
    const { boxoffice, sent } = clientOf(failing, failing, answer);
    await call(boxoffice);
    expect(sent).toHaveLength(3);
    expect(sent[1]).toStrictEqual(sent[0]);
  });

  test.each([400, 401, 402, 403, 404, 409, 429])('is not repeated after %i', async (code) => {
    const { boxoffice, sent } = clientOf(status(code, { 'retry-after': '0' }));
    expect(await errorOf(call(boxoffice))).toMatchObject({ code });
    expect(sent).toHaveLength(1);
  });
});

test.each(ONCE)('%s is sent once', async (_, call) => {
  for (const failing of [lost, status(500), status(502), status(503), status(504)]) {
    const { boxoffice, sent } = clientOf(failing);
    await errorOf(call(boxoffice));
    expect(sent).toHaveLength(1);
  }
});

test('signUp needs no key, is sent once, and checks its address', async () => {
  const requests: RequestInit[] = [];
  let answer = status(503);
  const fetch = async (_: unknown, init?: RequestInit) => {
    requests.push(init!);
    return answer();
  };
  const ada = { email: 'ada@example.com', name: 'Ada Video' };
  const options = { url: 'https://boxoffice.example', fetch: fetch as typeof globalThis.fetch };
  expect(await errorOf(signUp(ada, options))).toMatchObject({ kind: 'Unavailable' });
  answer = () => Response.json({ tenant: 't_1', api_key: 'secret', key_id: 'k' }, { status: 201 });
  expect(await signUp(ada, options)).toStrictEqual({ tenant: 't_1', apiKey: 'secret', keyId: 'k' });
  expect(requests).toHaveLength(2);
  expect(requests[1]).toMatchObject({ method: 'POST', body: JSON.stringify(ada) });
  expect(new Headers(requests[1]!.headers).has('authorization')).toBe(false);
  await expect(signUp(ada, { url: 'boxoffice' })).rejects.toThrow(
    new TypeError('url must begin with http:// or https://'),
  );
});

test('a Retry-After of an hour is not awaited', async () => {
  const { boxoffice, sent } = clientOf(status(503, { 'retry-after': '3600' }));
  expect(await errorOf(boxoffice.rates.get())).toMatchObject({
    kind: 'Unavailable',
    retryAfterMs: 3_600_000,
  });
  expect(sent).toHaveLength(1);
});

test('an incomplete or non-JSON answer counts as none', async () => {
  const broken = () =>
    new Response(
      new ReadableStream({
        start: (controller) => controller.error(new TypeError('terminated')),
      }),
    );
  const { boxoffice, sent } = clientOf(broken, () => Response.json({ keys: [] }));
  expect(await boxoffice.keys.list()).toStrictEqual([]);
  expect(sent).toHaveLength(2);
  const other = clientOf(() => new Response('<html>'));
  expect(await errorOf(other.boxoffice.keys.list())).toMatchObject({ kind: 'Internal', code: 200 });
});

test('keys.list() reads every page', async () => {
  const page = (id: string, more: object) => () => Response.json({ keys: [{ id }], ...more });
  const pages = [page('a', { next_cursor: 'x' }), page('b', { next_cursor: 'y' }), page('c', {})];
  const { boxoffice, sent } = clientOf(...pages);
  expect(await boxoffice.keys.list()).toMatchObject([{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
  expect(sent.map(({ path }) => path)).toStrictEqual(['/v1/keys', '/v1/keys?cursor=x', '/v1/keys?cursor=y']);
});

test('names, times and amounts have JavaScript types', async () => {
  const key = { id: 'k', name: 'x', kind: 'relay', created_at: '2026-01-02T03:04:05.678Z' };
  const { boxoffice, sent } = clientOf(
    () => Response.json({ key, api_key: 'secret', old_key_retires: '2026-01-03T00:00:00.000Z' }),
    () =>
      Response.json({ charged: 1, total: { micros: 9_007_199_254_740_991, display: '$' }, admitted: true }),
    () =>
      Response.json({
        ceiling_per_1000_participant_minutes: { broadcast_audience: { '2k_plus': { micros: 5 } } },
      }),
  );
  expect(await boxoffice.keys.rotate({ id: 'a/b', overlapSeconds: 60 })).toStrictEqual({
    key: { id: 'k', name: 'x', kind: 'relay', createdAt: new Date('2026-01-02T03:04:05.678Z') },
    apiKey: 'secret',
    oldKeyRetires: new Date('2026-01-03T00:00:00.000Z'),
  });
  const record = {
    id: 'r',
    role: 'host',
    tier: 'full_hd',
    seconds: 1,
    egressBytes: 2,
    ingressBytes: 3,
  } as const;
  expect((await boxoffice.usage.report([record])).total.micros).toBe(9_007_199_254_740_991n);
  const rates = await boxoffice.rates.get();
  expect(rates.ceilingPer1000ParticipantMinutes.broadcast_audience['2k_plus'].micros).toBe(5n);
  expect(sent.slice(0, 2)).toStrictEqual([
    { method: 'POST', path: '/v1/keys/a%2Fb/rotate', body: { overlap_seconds: 60 } },
    {
      method: 'POST',
      path: '/v1/usage',
      body: {
        records: [{ id: 'r', role: 'host', tier: 'full_hd', seconds: 1, egress_bytes: 2, ingress_bytes: 3 }],
      },
    },
  ]);
});

test('a signal ends a request with its reason, and a time limit with Timeout', async () => {
  const fetch = (_: unknown, init?: RequestInit) =>
    new Promise<Response>((_, reject) => {
      init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
    });
  const boxoffice = client({ fetch, retries: 0 });
  const reason = new Error('enough');
  const aborting = new AbortController();
  const call = boxoffice.keys.create({ name: 'x' }, { signal: aborting.signal });
  aborting.abort(reason);
  await expect(call).rejects.toBe(reason);
  expect(await errorOf(boxoffice.keys.create({ name: 'x' }, { attemptTimeoutMs: 20 }))).toMatchObject({
    kind: 'Timeout',
    code: 'DEADLINE_EXCEEDED',
  });
});
