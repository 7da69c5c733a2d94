/** Which requests are repeated, and which never are. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type Boxoffice, type MutationOptions, signUp } from '../../../sdk/typescript/src/backend/index.ts';
import { client, errorOf, onEnd } from './support.ts';

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  onEnd(() => void vi.restoreAllMocks());
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly idempotencyKey: string | null;
}

/** A client whose requests get `answers` in turn, then the last one repeatedly. An answer that throws is lost. */
function clientOf(...answers: (() => Response | Promise<Response>)[]) {
  const sent: Sent[] = [];
  const fetch = async (url: string | URL | Request, init?: RequestInit) => {
    const { pathname, search } = new URL(String(url));
    const body = init?.body === undefined ? undefined : JSON.parse(String(init.body));
    const idempotencyKey = new Headers(init?.headers).get('idempotency-key');
    sent.push({ method: init?.method ?? '', path: pathname + search, body, idempotencyKey });
    return await answers[Math.min(sent.length, answers.length) - 1]!();
  };
  return { sent, boxoffice: client({ url: 'https://boxoffice.example/', fetch }) };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const lost = () => {
  throw new TypeError('fetch failed');
};
const status = (code: number, headers: Record<string, string> = {}) => {
  return () => Response.json({ error: 'why' }, { status: code, headers });
};

const REPEATABLE: [string, (boxoffice: Boxoffice) => Promise<unknown>, () => Response][] = [
  ['GET', (boxoffice) => boxoffice.keys.list(), () => Response.json({ keys: [] })],
  ['POST of usage', (boxoffice) => boxoffice.usage.report([]), () => Response.json({})],
  ['POST of a lookup', (boxoffice) => boxoffice.usage.lookUp(['r']), () => Response.json({ records: [] })],
  [
    'POST of a simulation',
    (boxoffice) => boxoffice.rates.simulate({ participants: [] }),
    () => Response.json({}),
  ],
  ['GET of events', ({ webhooks }) => webhooks.pullEvents(), () => Response.json({ events: [] })],
  ['GET of a list', (boxoffice) => all(boxoffice.billing.ledger()), () => Response.json({ entries: [] })],
];
type Writing = (boxoffice: Boxoffice, options?: MutationOptions) => Promise<unknown>;
const WRITES: [string, Writing, () => Response][] = [
  ['keys.create', ({ keys }, options) => keys.create({ name: 'x' }, options), () => Response.json({})],
  ['keys.rotate', ({ keys }, options) => keys.rotate({ id: 'x' }, options), () => Response.json({})],
  [
    'keys.revoke',
    ({ keys }, options) => keys.revoke({ id: 'x' }, options),
    () => new Response(null, { status: 204 }),
  ],
  [
    'billing.checkout',
    ({ billing }, options) => billing.checkout({ amountCents: 1000 }, options),
    () => Response.json({}),
  ],
  ['billing.portal', ({ billing }, options) => billing.portal(options), () => Response.json({})],
  [
    'billing.setAutoTopUp',
    ({ billing }, options) => billing.setAutoTopUp({ enabled: false }, options),
    () => Response.json({}),
  ],
  [
    'participants.erase',
    ({ participants }, options) => participants.erase('ann', options),
    () => Response.json({ erasure: {} }),
  ],
  ['alerts.set', ({ alerts }, options) => alerts.set([], options), () => Response.json({ thresholds: [] })],
  [
    'budgets.set',
    ({ budgets }, options) => budgets.set({ id: 'x', period: 'day', limitMicros: 0n, hard: true }, options),
    () => Response.json({}),
  ],
  [
    'budgets.delete',
    ({ budgets }, options) => budgets.delete('x', options),
    () => new Response(null, { status: 204 }),
  ],
  [
    'mail.set',
    ({ mail }, options) => mail.set({ addresses: [], alerts: true, receipts: true }, options),
    () => Response.json({}),
  ],
  [
    'webhooks.create',
    ({ webhooks }, options) => webhooks.create({ url: 'x' }, options),
    () => Response.json({}),
  ],
  [
    'webhooks.change',
    ({ webhooks }, options) => webhooks.change({ id: 'x' }, options),
    () => Response.json({}),
  ],
  [
    'webhooks.delete',
    ({ webhooks }, options) => webhooks.delete('x', options),
    () => new Response(null, { status: 204 }),
  ],
  [
    'webhooks.rotateSecret',
    ({ webhooks }, options) => webhooks.rotateSecret({ id: 'x' }, options),
    () => Response.json({}),
  ],
  ['webhooks.test', ({ webhooks }, options) => webhooks.test('x', options), () => Response.json({})],
  ['webhooks.resend', ({ webhooks }, options) => webhooks.resend('x', 1n, options), () => Response.json({})],
  [
    'webhooks.resendSince',
    ({ webhooks }, options) => webhooks.resendSince('x', new Date(0), options),
    () => Response.json({}),
  ],
  [
    'webhooks.resendFailed',
    ({ webhooks }, options) => webhooks.resendFailed('x', new Date(0), options),
    () => Response.json({}),
  ],
];

describe.each([...REPEATABLE, ...WRITES])('%s', (_, call, answer) => {
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

describe.each(WRITES)('the idempotency key of %s', (_, call, answer) => {
  test('is random for each call, and the same for its attempts', async () => {
    const { boxoffice, sent } = clientOf(lost, answer);
    await call(boxoffice);
    await call(boxoffice);
    const keys = sent.map(({ idempotencyKey }) => idempotencyKey);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  test('may be given', async () => {
    const { boxoffice, sent } = clientOf(answer);
    await call(boxoffice, { idempotencyKey: 'mine' });
    expect(sent).toMatchObject([{ idempotencyKey: 'mine' }]);
  });

  test.each(['', 'a b', 'a\n', '\u00fc', 'k'.repeat(256)])('may not be %j', async (idempotencyKey) => {
    const { boxoffice, sent } = clientOf(answer);
    await expect(call(boxoffice, { idempotencyKey })).rejects.toThrow(
      new TypeError('idempotencyKey must be 1 to 255 visible ASCII characters'),
    );
    expect(sent).toHaveLength(0);
  });
});

test('reads, usage and simulations have no idempotency key', async () => {
  const { boxoffice, sent } = clientOf(() => Response.json({ keys: [], records: [] }));
  await boxoffice.keys.list();
  await boxoffice.usage.report([]);
  await boxoffice.usage.lookUp(['r']);
  await boxoffice.rates.simulate({ participants: [] });
  expect(sent.map(({ idempotencyKey }) => idempotencyKey)).toStrictEqual([null, null, null, null]);
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
  for (const more of ['?', '/?x=1', '#', '/#x'])
    await expect(signUp(ada, { url: `https://boxoffice.example${more}` })).rejects.toThrow(
      new TypeError('url must have no user, query or fragment'),
    );
  await expect(signUp(ada, { url: 'https://ann@boxoffice.example' })).rejects.toThrow('no user');
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

describe('lists', () => {
  const from = new Date('2026-01-02T03:04:05.678Z');
  const LISTS: [string, (boxoffice: Boxoffice) => AsyncIterable<object>, string, string][] = [
    [
      'billing.ledger',
      ({ billing }) =>
        billing.ledger({ kinds: ['usage', 'top_up'], room: '', participant: 'ä&b', from, pageSize: 2 }),
      'entries',
      '/v1/ledger?room=&participant=%C3%A4%26b&from=2026-01-02T03%3A04%3A05.678Z&kind=usage%2Ctop_up&limit=2',
    ],
    [
      'usage.records',
      ({ usage }) => usage.records({ role: 'host', tier: '2k', to: from, pageSize: 0 }),
      'records',
      '/v1/usage/records?role=host&tier=2k&to=2026-01-02T03%3A04%3A05.678Z',
    ],
    ['usage.conflicts', ({ usage }) => usage.conflicts(), 'conflicts', '/v1/usage/conflicts'],
    ['without a filter', ({ billing }) => billing.ledger({ kinds: [] }), 'entries', '/v1/ledger'],
  ];

  test.each(LISTS)('%s reads page after page, also after an empty one', async (_, list, member, path) => {
    const page = (ids: string[], more: object) => () =>
      Response.json({ [member]: ids.map((id) => ({ id })), ...more });
    const pages = [page(['a'], { next_cursor: 'x' }), page([], { next_cursor: 'y' }), page(['b'], {})];
    const { boxoffice, sent } = clientOf(...pages);
    expect(await all(list(boxoffice))).toStrictEqual([{ id: 'a' }, { id: 'b' }]);
    const next = (cursor: string) => `${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`;
    expect(sent.map((each) => each.path)).toStrictEqual([path, next('x'), next('y')]);
  });

  test('continue at a page token', async () => {
    const { boxoffice, sent } = clientOf(() => Response.json({ records: [] }));
    await all(boxoffice.usage.records({ pageToken: 'x' }));
    expect(sent.map(({ path }) => path)).toStrictEqual(['/v1/usage/records?cursor=x']);
  });
});

test('usage.summary has its sum on every page, and goes on by the cursor', async () => {
  const measures = { records: 1, seconds: 2, ingress_bytes: 0, total: { micros: 5, display: '$0.000005' } };
  // JSON has the digits, which a number would round.
  const answer = JSON.stringify({
    from: '2026-01-01T00:00:00.000Z',
    to: '2026-01-31T00:00:00.000Z',
    rows: [{ day: '2026-01-02T00:00:00.000Z', room: '', ...measures, egress_bytes: 1 }],
    sum: { ...measures, egress_bytes: 0 },
    next_cursor: 'x',
  }).replace('"egress_bytes":0', '"egress_bytes":9223372036854775809');
  const { boxoffice, sent } = clientOf(() => new Response(answer));
  const from = new Date('2026-01-01T00:00:00Z');
  const ask = { groupBy: ['day', 'room'], from, limit: 1 } as const;
  const { rows, sum, to, nextCursor } = await boxoffice.usage.summary(ask);
  expect(rows[0]).toMatchObject({ day: new Date('2026-01-02'), room: '', egressBytes: 1n });
  expect(sum).toMatchObject({ egressBytes: 9_223_372_036_854_775_809n, total: { micros: 5n } });
  await boxoffice.usage.summary({ ...ask, to, cursor: nextCursor });
  const path = '/v1/usage/summary?group_by=day%2Croom&from=2026-01-01T00%3A00%3A00.000Z';
  expect(sent.map((each) => each.path)).toStrictEqual([
    `${path}&limit=1`,
    `${path}&to=2026-01-31T00%3A00%3A00.000Z&limit=1&cursor=x`,
  ]);
});

test('an amount that is no integer is no answer', async () => {
  for (const micros of ['1.5', '1e3']) {
    const { boxoffice } = clientOf(() => new Response(`{"balance":{"micros":${micros}}}`));
    expect(await errorOf(boxoffice.billing.get())).toMatchObject({ kind: 'Internal', code: 200 });
  }
});

test('members of any name keep their names and values', async () => {
  const data = { seq: 1.5, after: [{ micros: 7 }], created_at: '2026-01-02T00:00:00.000Z', from: null };
  const { boxoffice } = clientOf(
    () => Response.json({ events: [{ seq: 1, data }], after: 1, more: false }),
    () => Response.json({ entries: [{ before: data, after: data }] }),
  );
  expect(await boxoffice.webhooks.pullEvents()).toStrictEqual({
    events: [{ seq: 1n, data }],
    after: 1n,
    more: false,
  });
  expect(await all(boxoffice.audit.list())).toStrictEqual([{ before: data, after: data }]);
});

test('alerts, the runway, mail, webhooks and the audit trail', async () => {
  const at = '2026-01-02T00:00:00.000Z';
  const time = new Date(at);
  const { boxoffice, sent } = clientOf(
    () => Response.json({ thresholds: [{ kind: 'balance', below_micros: 5, raised_at: at }] }),
    () => Response.json({ thresholds: [{ kind: 'runway', below_hours: 2, raised_at: null }] }),
    () => Response.json({ burn: [{ runway_hours: 1.5, empty_at: null }] }),
    () => Response.json({ signup_address: false }),
    () => Response.json({ id: 'wh_1', delivered_seq: 3, paused_at: at }),
    () => Response.json({ deliveries: [{ seq: 7, latency_ms: 5, at }], next_cursor: 'x' }),
    () => Response.json({ deliveries: [] }),
    () => Response.json({ delivery: { event_id: 'evt_1' } }),
    () => Response.json({ webhook: { id: 'wh_1' } }),
    () => Response.json({ webhook: { id: 'wh_1' }, resent: 2, more: false }),
    () => Response.json({ dead_letters: [{ seq: 7, given_up_at: at }] }),
    () => Response.json({ events: [], after: 9, more: false }),
    () => Response.json({ entries: [] }),
  );
  const { alerts, billing, mail, webhooks, audit } = boxoffice;
  expect(await alerts.get()).toStrictEqual([{ kind: 'balance', belowMicros: 5n, raisedAt: time }]);
  const threshold = { kind: 'balance', belowMicros: 9_007_199_254_740_991n } as const;
  expect(await alerts.set([threshold])).toStrictEqual([{ kind: 'runway', belowHours: 2, raisedAt: null }]);
  expect(await billing.runway({ window: '7d' })).toStrictEqual({
    burn: [{ runwayHours: 1.5, emptyAt: null }],
  });
  const settings = { addresses: ['a@b.example'], alerts: true, receipts: false, signupAddress: false };
  expect(await mail.set(settings)).toStrictEqual({ signupAddress: false });
  const paused = { id: 'wh_1', deliveredSeq: 3n, pausedAt: time };
  expect(await webhooks.change({ id: 'wh/1', paused: true })).toStrictEqual(paused);
  expect(await all(webhooks.deliveries('wh/1', { pageSize: 2 }))).toStrictEqual([
    { seq: 7n, latencyMs: 5, at: time },
  ]);
  expect(await webhooks.resend('wh_1', 7n)).toStrictEqual({ eventId: 'evt_1' });
  expect(await webhooks.resendSince('wh_1', time)).toStrictEqual({ id: 'wh_1' });
  const resent = { webhook: { id: 'wh_1' }, resent: 2, more: false };
  expect(await webhooks.resendFailed('wh_1', time)).toStrictEqual(resent);
  expect(await all(webhooks.deadLetters('wh_1'))).toStrictEqual([{ seq: 7n, givenUpAt: time }]);
  const wanted = { after: 7n, types: ['moderation'], limit: 5, waitSeconds: 2 } as const;
  expect(await webhooks.pullEvents(wanted)).toStrictEqual({ events: [], after: 9n, more: false });
  expect(await all(audit.list({ action: 'key_created', subject: 'k', to: time }))).toStrictEqual([]);
  const encoded = at.replaceAll(':', '%3A');
  expect(sent.map(({ method, path, body }) => [method, path, body])).toStrictEqual([
    ['GET', '/v1/alerts', undefined],
    ['PUT', '/v1/alerts', { thresholds: [{ kind: 'balance', below_micros: Number.MAX_SAFE_INTEGER }] }],
    ['GET', '/v1/billing/runway?window=7d', undefined],
    ['PUT', '/v1/mail', { addresses: ['a@b.example'], alerts: true, receipts: false, signup_address: false }],
    ['PATCH', '/v1/webhooks/wh%2F1', { paused: true }],
    ['GET', '/v1/webhooks/wh%2F1/deliveries?limit=2', undefined],
    ['GET', '/v1/webhooks/wh%2F1/deliveries?limit=2&cursor=x', undefined],
    ['POST', '/v1/webhooks/wh_1/resend', { seq: 7 }],
    ['POST', '/v1/webhooks/wh_1/resend', { since: at }],
    ['POST', '/v1/webhooks/wh_1/resend', { since: at, only_failed: true }],
    ['GET', '/v1/webhooks/wh_1/dead-letters', undefined],
    ['GET', '/v1/events?after=7&types=moderation&limit=5&wait_seconds=2', undefined],
    ['GET', `/v1/audit?action=key_created&subject=k&to=${encoded}`, undefined],
  ]);
});

test('ids are percent-encoded; what no path can hold is a TypeError, and not sent', async () => {
  const { boxoffice, sent } = clientOf(() => Response.json({ posting: { at: '2026-01-02T00:00:00.000Z' } }));
  const explained = await boxoffice.usage.explain('a/b?#%é🎟');
  expect(explained).toStrictEqual({ posting: { at: new Date('2026-01-02') } });
  expect(sent.map(({ path }) => path)).toStrictEqual(['/v1/usage/a%2Fb%3F%23%25%C3%A9%F0%9F%8E%9F/explain']);
  for (const id of ['', '.', '..', '\ud800', undefined as unknown as string]) {
    await expect(boxoffice.usage.explain(id)).rejects.toThrow(
      new TypeError('id must be a well-formed string, and not empty, "." or ".."'),
    );
  }
  const wrong = [{ from: new Date(Number.NaN) }, { room: '\ud800' }, { room: null as unknown as string }];
  for (const request of wrong) {
    const [name] = Object.keys(request);
    const error = new TypeError(`${name} must be a valid Date, or a well-formed string`);
    await expect(all(boxoffice.usage.records(request))).rejects.toThrow(error);
    await expect(boxoffice.usage.summary(request)).rejects.toThrow(error);
  }
  expect(sent).toHaveLength(1);
});

test('usage.lookUp and rates.simulate send what they are given', async () => {
  const { boxoffice, sent } = clientOf(
    () => Response.json({ records: [{ id: 'r', outcome: 'unknown' }] }),
    () => Response.json({ lines: [{ price: { decimal: '1.500000' } }], balance_after: { micros: -1 } }),
  );
  expect(await boxoffice.usage.lookUp(['r'])).toStrictEqual([{ id: 'r', outcome: 'unknown' }]);
  const line = {
    role: 'host',
    tier: 'hd',
    count: 1,
    seconds: 60,
    egressBytes: 5,
    intervalSeconds: 30,
  } as const;
  expect(await boxoffice.rates.simulate({ participants: [line] })).toStrictEqual({
    lines: [{ price: { decimal: '1.500000' } }],
    balanceAfter: { micros: -1n },
  });
  const { egressBytes, intervalSeconds, ...others } = line;
  const sentLine = { ...others, egress_bytes: egressBytes, interval_seconds: intervalSeconds };
  expect(sent).toMatchObject([
    { method: 'POST', path: '/v1/usage/lookup', body: { ids: ['r'] } },
    { method: 'POST', path: '/v1/rates/simulate', body: { participants: [sentLine] } },
  ]);
});

test('statements, payments and erasures', async () => {
  const [month, at] = ['2026-10', '2026-01-02T00:00:00.000Z'];
  const { boxoffice, sent } = clientOf(
    () => Response.json({ statements: [{ month, closing: { micros: 5 } }] }),
    () => Response.json({ statement: { month, from: at }, jws: 'a.b.c' }),
    () => Response.json({ statement: { so_far: true } }),
    () => Response.json({ payments: [{ id: 'pi_1', at }], next_cursor: 'x' }),
    () => Response.json({ payments: [] }),
    () => Response.json({ grants: [{ id: 'gr_1', left: { micros: 5 }, expires_at: at }] }),
    () => Response.json({ url: 'https://a', invoice_url: 'https://b' }),
    () => Response.json({ erasure: { id: 'er_1', created_at: at } }, { status: 202 }),
    () => Response.json({ erasure: { id: 'er_1', finished_at: at } }),
  );
  const { billing, participants } = boxoffice;
  const time = new Date(at);
  expect(await billing.statements()).toStrictEqual([{ month, closing: { micros: 5n } }]);
  expect(await billing.statement(month)).toStrictEqual({ statement: { month, from: time }, jws: 'a.b.c' });
  expect(await billing.statement(month, { soFar: true })).toStrictEqual({ statement: { soFar: true } });
  expect(await all(billing.payments())).toStrictEqual([{ id: 'pi_1', at: time }]);
  expect(await all(billing.grants({ pageToken: 'y' }))).toStrictEqual([
    { id: 'gr_1', left: { micros: 5n }, expiresAt: time },
  ]);
  expect(await billing.receipt('pi/1')).toStrictEqual({ url: 'https://a', invoiceUrl: 'https://b' });
  expect(await participants.erase('ann')).toStrictEqual({ id: 'er_1', createdAt: time });
  expect(await participants.erasure('er_1')).toStrictEqual({ id: 'er_1', finishedAt: time });
  expect(sent.map(({ method, path, body }) => [method, path, body])).toStrictEqual([
    ['GET', '/v1/statements', undefined],
    ['GET', '/v1/statements/2026-10', undefined],
    ['GET', '/v1/statements/2026-10?so_far=true', undefined],
    ['GET', '/v1/payments', undefined],
    ['GET', '/v1/payments?cursor=x', undefined],
    ['GET', '/v1/grants?cursor=y', undefined],
    ['GET', '/v1/payments/pi%2F1/receipt', undefined],
    ['POST', '/v1/participants/erase', { participant: 'ann' }],
    ['GET', '/v1/erasures/er_1', undefined],
  ]);
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
  expect(sent.slice(0, 2)).toMatchObject([
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
