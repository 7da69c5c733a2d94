import { afterEach, describe, expect, test } from 'vitest';
import {
  followRevocations,
  type RevocationFeed,
  type RevocationFeedOptions,
  type RevocationsError,
} from '../../../sdk/typescript/src/relay/index.ts';
import {
  AUDIENCE,
  codeOf,
  createRelay,
  hashed,
  ISSUER,
  type Json,
  jwks,
  KID,
  mint,
  NOW_SECONDS,
  ROOM_UID,
  sign,
  signingKey,
  TENANT,
  thiefKey,
} from './support.ts';
import { FakeClock } from './usage/fake-clock.ts';

const BASE = 'https://boxoffice.example';
const KICK = { epochs: [[hashed('epoch', ROOM_UID, 'ann'), 4]] };

function snapshot(changes: Json = {}, header: Json = {}, key = signingKey): Promise<string> {
  const claims = {
    iss: ISSUER,
    aud: AUDIENCE,
    tid: TENANT,
    seq: 7,
    iat: NOW_SECONDS,
    exp: NOW_SECONDS + 60,
    epochs: [],
    bans: [],
    mutes: [],
    closed: [],
    ...changes,
  };
  return sign({ alg: 'ES256', kid: KID, typ: 'revocations+jwt', ...header }, claims, key);
}

const open: RevocationFeed[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((feed) => feed.close()));
});

/** A service that gives these answers, one for each poll, then none; and a relay that follows it. */
function follow(answers: (string | Response | Error)[], options: Partial<RevocationFeedOptions> = {}) {
  const asked: string[] = [];
  const headers: HeadersInit[] = [];
  const errors: RevocationsError[] = [];
  const changes: [string, number][] = [];
  const clock = new FakeClock();
  clock.setWall(NOW_SECONDS * 1000);
  const feed = followRevocations({
    url: BASE,
    tenants: [TENANT],
    issuer: ISSUER,
    audience: AUDIENCE,
    jwks,
    clock,
    random: () => 1,
    onChange: (tenant, { seq }) => changes.push([tenant, seq]),
    onError: (error) => errors.push(error),
    fetch: async (url, init) => {
      asked.push(String(url).replace(BASE, ''));
      headers.push(init?.headers ?? {});
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      if (typeof answer === 'string') return new Response(answer);
      if (answer?.body) {
        const body = answer.body.pipeThrough(new TransformStream(), { signal: init!.signal! });
        return new Response(body, answer);
      }
      if (answer) return answer;
      return await new Promise((_, reject) => {
        init!.signal!.addEventListener('abort', () => reject(new Error('aborted')));
      });
    },
    ...options,
  } as RevocationFeedOptions);
  open.push(feed);
  return { feed, asked, headers, errors, changes, clock };
}

const PATH = `/v1/revocations/${TENANT}`;

describe('followRevocations', () => {
  test('asks for the first snapshot, then for newer ones, and reports each', async () => {
    const { feed, asked, changes, errors } = follow([await snapshot(), await snapshot({ seq: 9, ...KICK })]);
    expect(feed.get(TENANT)).toBeUndefined();
    await expect.poll(() => asked).toStrictEqual([PATH, `${PATH}?after=7`, `${PATH}?after=9`]);
    expect(feed.get(TENANT)).toMatchObject({ seq: 9, ...KICK });
    expect(feed.get('t_0000000000000000')).toBeUndefined();
    expect([changes, errors]).toStrictEqual([
      [
        [TENANT, 7],
        [TENANT, 9],
      ],
      [],
    ]);
  });

  test('a relay with it refuses all participants until there is a snapshot, then the revoked ones', async () => {
    const { feed } = follow([await snapshot(KICK)]);
    const arrive = async (claims: Json, { get } = feed) => {
      const relay = createRelay({ revocations: get });
      return await codeOf(relay.verify({ token: await mint(claims), proof: '' } as never));
    };
    expect(await arrive({ ep: 4 }, follow([]).feed)).toBe('REVOCATIONS_STALE');
    await expect.poll(() => feed.get(TENANT)).toBeDefined();
    expect(await arrive({ ep: 3 })).toBe('TOKEN_REVOKED');
    expect(await arrive({ ep: 4 })).toBe('PROOF_MALFORMED');
  });

  test('an equal snapshot extends the expiry, and is not a change', async () => {
    const { feed, asked, changes, clock } = follow([
      await snapshot(),
      await snapshot({ exp: NOW_SECONDS + 85 }),
    ]);
    await expect.poll(() => feed.get(TENANT)?.exp).toBe(NOW_SECONDS + 85);
    expect(changes).toStrictEqual([[TENANT, 7]]);
    // It came at once, so polls of a service that does not wait are paused.
    await expect.poll(() => clock.timers).toStrictEqual([1000]);
    expect(asked).toHaveLength(2);
    clock.advance(1000);
    await expect.poll(() => asked).toHaveLength(3);
  });

  test('one that expires sooner is ignored', async () => {
    const { feed, clock } = follow([await snapshot(), await snapshot({ exp: NOW_SECONDS + 55 })]);
    await expect.poll(() => clock.timers).toStrictEqual([1000]);
    expect(feed.get(TENANT)?.exp).toBe(NOW_SECONDS + 60);
  });

  test.each<[string, () => Promise<string>]>([
    ['text that is no JWS', async () => 'no'],
    ['a signature by another key', () => snapshot(KICK, {}, thiefKey)],
    ['an unknown key', () => snapshot(KICK, { kid: 'thief' }, thiefKey)],
    ['a key of its own in the header', () => snapshot(KICK, { jwk: thiefKey }, thiefKey)],
    ['a header with more in it', () => snapshot(KICK, { cty: 'JWT' })],
    ['alg none', async () => `${(await snapshot(KICK, { alg: 'none' })).replace(/[^.]*$/, '')}`],
    ['alg ES384', () => snapshot(KICK, { alg: 'ES384' })],
    ['a participant token', () => mint()],
    ['another type', () => snapshot(KICK, { typ: 'JWT' })],
    ['another issuer', () => snapshot({ iss: 'https://other.example' })],
    ['another audience', () => snapshot({ aud: 'relay:other.example' })],
    ['another tenant', () => snapshot({ tid: 't_0000000000000000' })],
    ['one that has ended', () => snapshot({ exp: NOW_SECONDS })],
    ['no number', () => snapshot({ seq: undefined })],
    ['a number that is none', () => snapshot({ seq: '8' })],
    ['no epochs', () => snapshot({ epochs: undefined })],
    ['an epoch of another form', () => snapshot({ epochs: [[ROOM_UID, 'ann', 4]] })],
    ['a ban of an unknown kind', () => snapshot({ bans: [['*', 'country', 'AQ', null]] })],
    ['a range in plain text', () => snapshot({ bans: [['*', 'range', '192.0.2.0/24', null]] })],
    ['a range without a length', () => snapshot({ bans: [['*', 'range', 'A'.repeat(22), null]] })],
    ['a ban without an end or null', () => snapshot({ bans: [['*', 'user', 'x']] })],
    ['a mute of nothing', () => snapshot({ mutes: [['x']] })],
    ['a closed room that is a number', () => snapshot({ closed: [1] })],
    ['a credential that is a number', () => snapshot({ credentials: [1] })],
    ['reasons of another form', () => snapshot({ reasons: [['x']] })],
  ])('refuses %s, and keeps what it has', async (_, make) => {
    const { feed, errors, changes } = follow([await snapshot({ seq: 5 }), await make()]);
    await expect.poll(() => errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: 'NOT_VALID', tenant: TENANT });
    expect([feed.get(TENANT)!.seq, changes]).toStrictEqual([5, [[TENANT, 5]]]);
  });

  test('accepts reasons, and ignores members that only a later version knows', async () => {
    const reasons = [[KICK.epochs[0]![0], 'eclipse']];
    const { feed, errors } = follow([await snapshot({ ...KICK, reasons, later: 1 })]);
    await expect.poll(() => feed.get(TENANT)).toMatchObject({ ...KICK, reasons });
    expect(errors).toStrictEqual([]);
  });

  test('refuses an older one while the current one is fresh', async () => {
    const { feed, errors } = follow([
      await snapshot(KICK),
      await snapshot({ seq: 6, exp: NOW_SECONDS + 61 }),
    ]);
    await expect.poll(() => errors.map(({ code }) => code)).toStrictEqual(['OLDER']);
    expect(feed.get(TENANT)).toMatchObject({ seq: 7, ...KICK });
  });

  test('accepts smaller numbers once the current one has expired: the service restarted its numbering', async () => {
    const later = await snapshot({ seq: 2, iat: NOW_SECONDS + 61, exp: NOW_SECONDS + 121 });
    const { feed, clock, errors } = follow([await snapshot(), new Error('away'), later]);
    await expect.poll(() => errors).toHaveLength(1);
    clock.advance(61_000);
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(2);
  });

  test.each<[string, () => string | Response | Error, object]>([
    ['no answer', () => new Error('refused'), { code: 'NO_ANSWER' }],
    ['500', () => new Response('', { status: 500 }), { code: 'BAD_ANSWER', status: 500 }],
    ['404', () => new Response('', { status: 404 }), { code: 'BAD_ANSWER', status: 404 }],
    ['204', () => new Response(null, { status: 204 }), { code: 'BAD_ANSWER', status: 204 }],
    ['far too much', () => new Response('x'.repeat(2 ** 24 + 1)), { code: 'BAD_ANSWER' }],
  ])('asks again after %s', async (_, answer, expected) => {
    const { feed, asked, errors, clock } = follow([answer(), answer(), await snapshot()]);
    await expect.poll(() => errors).toStrictEqual([expect.objectContaining(expected)]);
    await expect.poll(() => clock.timers).toStrictEqual([500]);
    clock.advance(500);
    await expect.poll(() => clock.timers).toStrictEqual([1000]);
    clock.advance(1000);
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(7);
    expect(asked).toHaveLength(4);
  });

  test('waits no longer than 5 seconds, unless asked to, and then half a minute at most', async () => {
    const failures = Array.from({ length: 6 }, () => new Error('away'));
    const patience = (seconds: string) =>
      new Response('', { status: 429, headers: { 'retry-after': seconds } });
    const { clock, errors } = follow([...failures, patience('12'), patience('3600')]);
    const waits: number[] = [];
    for (let failed = 1; failed <= 8; failed += 1) {
      await expect.poll(() => [errors.length, clock.timers.length]).toStrictEqual([failed, 1]);
      waits.push(clock.timers[0]!);
      clock.advance(clock.timers[0]!);
    }
    expect(waits).toStrictEqual([500, 1000, 2000, 4000, 5000, 5000, 12_000, 30_000]);
  });

  test('waits 40 seconds for a silent service', async () => {
    const { clock, errors } = follow([await snapshot()]);
    await expect.poll(() => clock.timers).toStrictEqual([40_000]);
    clock.advance(40_000);
    await expect.poll(() => errors).toMatchObject([{ code: 'NO_ANSWER' }]);
  });

  test('follows each tenant separately, and none once it is closed', async () => {
    const other = 't_0000000000000001';
    const { feed, asked, errors } = follow([], { tenants: [TENANT, other, TENANT] });
    await expect.poll(() => asked).toStrictEqual([PATH, `/v1/revocations/${other}`]);
    await feed.close();
    expect([asked.length, errors]).toStrictEqual([2, []]);
  });
});

describe('a stream', () => {
  const STREAM = { accept: 'text/event-stream' };
  const relayKey = () => 'bo_0123456789abcdef_secret';

  /** A stream that the test writes to. */
  function stream() {
    const { readable, writable } = new TransformStream<string, string>();
    const writer = writable.getWriter();
    const send = (event: string, data: string) => writer.write(`event: ${event}\ndata: ${data}\n\n`);
    const answer = new Response(readable.pipeThrough(new TextEncoderStream()), {
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    });
    return {
      answer,
      revoke: async (changes: Json = {}) => send('revocations', await snapshot(changes)),
      send,
      admit: (admitted: boolean) => send('admitted', JSON.stringify({ admitted })),
      end: () => writer.close(),
      fail: () => writer.abort(new Error('lost')),
    };
  }

  test('keeps each snapshot of it, and asks for no other', async () => {
    const { answer, revoke, send } = stream();
    const { feed, asked, headers, changes, errors } = follow([answer]);
    await revoke();
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(7);
    await send('later', 'something');
    await revoke({ seq: 9, ...KICK });
    await expect.poll(() => feed.get(TENANT)).toMatchObject({ seq: 9, ...KICK });
    await revoke({ seq: 9, ...KICK, exp: NOW_SECONDS + 85 });
    await expect.poll(() => feed.get(TENANT)?.exp).toBe(NOW_SECONDS + 85);
    expect([asked, headers, errors]).toStrictEqual([[PATH], [STREAM], []]);
    expect(changes).toStrictEqual([
      [TENANT, 7],
      [TENANT, 9],
    ]);
  });

  test('tells with a relay key whether the tenant is admitted, for as long as it runs', async () => {
    const { answer, revoke, admit, end } = stream();
    const { feed, headers } = follow([answer], { relayKey });
    await revoke();
    for (const admitted of [true, false, true]) {
      await admit(admitted);
      await expect.poll(() => feed.admitted(TENANT)).toBe(admitted);
    }
    expect(headers).toStrictEqual([{ ...STREAM, authorization: `Bearer ${relayKey()}` }]);
    expect(feed.admitted('t_0000000000000000')).toBeUndefined();
    await end();
    await expect.poll(() => feed.admitted(TENANT)).toBeUndefined();
  });

  test('tells which budgets are spent, and when that changes', async () => {
    const { answer, revoke, admit, send, end } = stream();
    const told: string[] = [];
    const { feed } = follow([answer], { relayKey, onBudgets: (tenant: string) => told.push(tenant) });
    await revoke();
    await admit(true);
    await send('admitted', '{"admitted":true,"reached_budgets":["bu_1","bu_2"]}');
    await expect.poll(() => feed.budgetReached(TENANT, ['bu_0', 'bu_2'])).toBe(true);
    expect(feed.budgetReached(TENANT, ['bu_0'])).toBe(false);
    expect(feed.budgetReached('t_0000000000000000', ['bu_1'])).toBe(false);
    await admit(true);
    await expect.poll(() => feed.budgetReached(TENANT, ['bu_2'])).toBe(false);
    expect(told).toEqual([TENANT, TENANT]);
    await end();
  });

  test('is opened again when it ends: after a moment, because all relays may come back at once', async () => {
    const [first, second] = [stream(), stream()];
    const { feed, asked, errors, clock } = follow([first.answer, second.answer]);
    await first.revoke();
    await first.end();
    await expect.poll(() => clock.timers).toStrictEqual([1000]);
    clock.advance(1000);
    await second.revoke({ seq: 8 });
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(8);
    expect([asked, errors]).toStrictEqual([[PATH, PATH], []]);
  });

  test('is opened again when it is lost, or silent for 40 seconds, or tells what is not valid', async () => {
    const streams = [stream(), stream(), stream(), stream()];
    const { feed, asked, errors, clock } = follow(streams.map(({ answer }) => answer));
    const expectRetry = async (count: number, code: string) => {
      await expect.poll(() => errors).toHaveLength(count);
      expect(errors.at(-1)).toMatchObject({ code });
      // Each stream that has begun is a success.
      await expect.poll(() => clock.timers).toStrictEqual([500]);
      clock.advance(500);
    };
    const [lost, silent, invalid, last] = streams;
    await lost!.revoke();
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(7);
    await lost!.fail();
    await expectRetry(1, 'NO_ANSWER');
    await silent!.revoke({ seq: 8 });
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(8);
    await expect.poll(() => clock.timers).toStrictEqual([40_000]);
    clock.advance(40_000);
    await expectRetry(2, 'NO_ANSWER');
    await invalid!.send('revocations', await snapshot(KICK, {}, thiefKey));
    await expectRetry(3, 'NOT_VALID');
    await last!.revoke({ seq: 9, exp: NOW_SECONDS + 99 });
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(9);
    expect(asked).toStrictEqual([PATH, PATH, PATH, PATH]);
  });

  test.each<[string, () => Promise<string | Response>]>([
    ['an older service gives a snapshot', () => snapshot()],
    ['the key is refused', async () => new Response('', { status: 401 })],
    ['there are too many', async () => new Response('', { status: 429 })],
  ])('where %s, polls without a key follow, and a stream again after 5 minutes', async (_, answer) => {
    const { feed, headers, clock } = follow(
      [await answer(), await snapshot({ seq: 8 }), await snapshot({ seq: 9 })],
      {
        relayKey,
      },
    );
    await expect.poll(() => clock.timers.length).toBe(1);
    if (clock.timers[0] === 500) clock.advance(500);
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(9);
    await expect.poll(() => headers).toHaveLength(4);
    expect(headers.slice(1)).toStrictEqual([{}, {}, {}]);
    clock.advance(300_000);
    await expect.poll(() => clock.timers[0]).toBeLessThanOrEqual(500);
    clock.advance(500);
    await expect.poll(() => headers.at(-1)).toHaveProperty('accept');
  });

  test('that a proxy keeps to itself is given up after 10 seconds, for polls', async () => {
    const { answer } = stream();
    const { feed, asked, errors, clock } = follow([answer, await snapshot({ exp: NOW_SECONDS + 90 })]);
    await expect.poll(() => clock.timers).toStrictEqual([10_000]);
    clock.advance(10_000);
    await expect.poll(() => errors).toMatchObject([{ code: 'NO_ANSWER' }]);
    clock.advance(500);
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(7);
    await expect.poll(() => asked).toStrictEqual([PATH, PATH, `${PATH}?after=7`]);
  });

  test('without a readable key is not waited for', async () => {
    const { feed, headers, errors, clock } = follow([await snapshot()], { relayKey: () => 'not\nprintable' });
    await expect.poll(() => errors).toMatchObject([{ code: 'NO_ANSWER' }]);
    clock.advance(500);
    await expect.poll(() => feed.get(TENANT)?.seq).toBe(7);
    expect(headers[0]).toStrictEqual({});
  });
});
