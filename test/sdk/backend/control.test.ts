/** Control-plane calls against a scripted server. */
import { inspect } from 'node:util';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { type BoxofficeOptions, ClientClosed } from '../../../sdk/typescript/src/backend/index.ts';
import { API_KEY, client, errorOf, onEnd, type Received, Refusal, startControl, TENANT } from './support.ts';

const MINT = { room: 'lobby', username: 'ann', deviceThumbprint: 'x' };

beforeEach(() => {
  // Removes the random part of waits. The service's own delays still apply.
  vi.spyOn(Math, 'random').mockReturnValue(0);
  onEnd(() => void vi.restoreAllMocks());
});

/** A client of a control plane that does each of these in turn, and then repeats the last one. */
async function clientOf(each: (() => object)[], options: Partial<BoxofficeOptions> = {}) {
  let calls = 0;
  const control = await startControl(() => each[Math.min(calls++, each.length - 1)]!());
  return { control, boxoffice: client({ controlUrl: control.url, tenant: TENANT, ...options }) };
}

const refuse = (...refusal: ConstructorParameters<typeof Refusal>) => {
  return () => {
    throw new Refusal(...refusal);
  };
};
const room = () => ({ room: { name: 'lobby' } });
const event = (seq: number) => ({ event: { seq: BigInt(seq), type: 1 }, resumeToken: `after ${seq}` });
const keysOf = (received: Received[]) => received.map(({ request }) => request.idempotencyKey as string);

describe('attempts', () => {
  test('UNAVAILABLE is retried, no sooner than asked, with the same idempotency key', async () => {
    const unavailable = refuse('UNAVAILABLE', { reason: 'UNAVAILABLE', retryDelayMs: 120 });
    const { control, boxoffice } = await clientOf([unavailable, unavailable, room]);
    const begun = performance.now();
    expect(await boxoffice.rooms.create({ room: 'lobby' })).toMatchObject({ name: 'lobby' });
    expect(performance.now() - begun).toBeGreaterThan(235);
    expect(new Set(keysOf(control.received)).size).toBe(1);
    expect(keysOf(control.received)).toHaveLength(3);
    expect(control.received[0]!.request).toMatchObject({ tenant: TENANT, room: 'lobby' });
    expect(control.received[0]!.authorization).toBe(`Bearer ${API_KEY}`);
  });

  test('every mutation has a key of its own, or the one that is given', async () => {
    const { control, boxoffice } = await clientOf([room]);
    await boxoffice.rooms.create({ room: 'lobby' });
    await boxoffice.rooms.create({ room: 'lobby' });
    await boxoffice.rooms.create({ room: 'lobby' }, { idempotencyKey: 'mine' });
    const [one, other, mine] = keysOf(control.received);
    expect(one).toMatch(/^[0-9a-f-]{36}$/);
    expect(other).not.toBe(one);
    expect(mine).toBe('mine');
  });

  test.each(['', 'a\n', '\u00fc', 'k'.repeat(129)])('a key may not be %j', async (idempotencyKey) => {
    const { control, boxoffice } = await clientOf([room]);
    const message = 'idempotencyKey must be 1 to 128 printable ASCII characters';
    await expect(async () => boxoffice.rooms.create({ room: 'lobby' }, { idempotencyKey })).rejects.toThrow(
      new TypeError(message),
    );
    expect(control.received).toHaveLength(0);
  });

  test('a token is retried after UNAVAILABLE, without a key', async () => {
    const { control, boxoffice } = await clientOf([refuse('UNAVAILABLE'), () => ({ token: 't' })]);
    expect(await boxoffice.tokens.mint({ ...MINT, lifetimeSeconds: 300 })).toMatchObject({ token: 't' });
    expect(control.received).toHaveLength(2);
    expect(control.received[1]!.request.lifetime.seconds).toBe(300n);
  });

  test('it stops after the configured retries', async () => {
    const { control, boxoffice } = await clientOf([refuse('UNAVAILABLE')], { retries: 2 });
    expect(await errorOf(boxoffice.rooms.get({ room: 'x' }))).toMatchObject({ kind: 'Unavailable' });
    expect(control.received).toHaveLength(3);
  });

  test('it stops if the service asks for more time than is left', async () => {
    const unavailable = refuse('UNAVAILABLE', { reason: 'TOO_MANY_FAILED_KEYS', retryDelayMs: 60_000 });
    const { control, boxoffice } = await clientOf([unavailable]);
    const error = await errorOf(boxoffice.rooms.get({ room: 'x' }));
    expect(error).toMatchObject({ reason: 'TOO_MANY_FAILED_KEYS', retryAfterMs: 60_000 });
    expect(control.received).toHaveLength(1);
  });

  test.each(['NOT_FOUND', 'FAILED_PRECONDITION', 'INTERNAL', 'INVALID_ARGUMENT', 'UNAUTHENTICATED'] as const)(
    '%s is not retried',
    async (code) => {
      const { control, boxoffice } = await clientOf([refuse(code)]);
      expect(await errorOf(boxoffice.rooms.create({ room: 'x' }))).toMatchObject({ code });
      expect(control.received).toHaveLength(1);
    },
  );

  test('an unreachable service is Unavailable', async () => {
    const boxoffice = client({ tenant: TENANT, retries: 1 });
    const error = await errorOf(boxoffice.rooms.get({ room: 'x' }));
    expect(error).toMatchObject({ kind: 'Unavailable', code: 'UNAVAILABLE', requestId: undefined });
  });
});

describe('limits of time', () => {
  const never = () => new Promise<object>(() => {});

  test('an unanswered attempt is retried', async () => {
    const { control, boxoffice } = await clientOf([never, room], { attemptTimeoutMs: 300 });
    expect(await boxoffice.rooms.create({ room: 'lobby' })).toMatchObject({ name: 'lobby' });
    expect(new Set(keysOf(control.received)).size).toBe(1);
    expect(control.received.length).toBeGreaterThan(1);
  });

  test('a call ends at its time limit', async () => {
    const { boxoffice } = await clientOf([never]);
    const error = await errorOf(boxoffice.rooms.get({ room: 'x' }, { timeoutMs: 100 }));
    expect(error).toMatchObject({ kind: 'Timeout', code: 'DEADLINE_EXCEEDED' });
  });

  test('a signal ends a call at once, with its reason, and the service sees the cancellation', async () => {
    let cancelled = false;
    const control = await startControl((_, call) => {
      call.on('cancelled', () => {
        cancelled = true;
      });
      aborting.abort(reason);
      return never();
    });
    const aborting = new AbortController();
    const reason = new Error('changed my mind');
    const boxoffice = client({ controlUrl: control.url, tenant: TENANT });
    await expect(boxoffice.rooms.get({ room: 'x' }, { signal: aborting.signal })).rejects.toBe(reason);
    await expect.poll(() => cancelled).toBe(true);
  });

  test('a signal ends a wait', async () => {
    const unavailable = refuse('UNAVAILABLE', { reason: 'UNAVAILABLE', retryDelayMs: 20_000 });
    const { boxoffice } = await clientOf([unavailable]);
    const call = boxoffice.rooms.get({ room: 'x' }, { signal: AbortSignal.timeout(100) });
    await expect(call).rejects.toMatchObject({ name: 'TimeoutError' });
  });

  test('an aborted signal prevents the request', async () => {
    const { control, boxoffice } = await clientOf([room]);
    const call = boxoffice.rooms.create({ room: 'x' }, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(control.received).toHaveLength(0);
  });
});

describe('a stream', () => {
  test('is resumed where it broke, until the caller ends it', async () => {
    const tokens: string[] = [];
    const control = await startControl(
      () => ({}),
      ({ request }, stream) => {
        tokens.push(request.resumeToken);
        const next = 2 * tokens.length - 1;
        stream.write(event(next));
        stream.write(event(next + 1));
        stream.emit('error', new Refusal('UNAVAILABLE', { reason: 'UNAVAILABLE' }));
      },
    );
    const boxoffice = client({ controlUrl: control.url, tenant: TENANT });
    const seen: [bigint, string][] = [];
    for await (const { seq, resumeToken } of boxoffice.rooms.watch({ resumeToken: 'after 0' })) {
      seen.push([seq, resumeToken]);
      if (seen.length === 5) break;
    }
    expect(seen.map(([seq]) => seq)).toStrictEqual([1n, 2n, 3n, 4n, 5n]);
    expect(seen[4]![1]).toBe('after 5');
    expect(tokens).toStrictEqual(['after 0', 'after 2', 'after 4']);
  });

  test('restarts before an interrupted snapshot', async () => {
    const tokens: string[] = [];
    const control = await startControl(
      () => ({}),
      ({ request }, stream) => {
        tokens.push(request.resumeToken);
        stream.write({ event: { type: 12 }, resumeToken: '' });
        if (tokens.length === 1) stream.emit('error', new Refusal('UNAVAILABLE'));
      },
    );
    const boxoffice = client({ controlUrl: control.url, tenant: TENANT });
    const types: string[] = [];
    for await (const { type } of boxoffice.rooms.watch()) {
      types.push(type);
      if (types.length === 2) break;
    }
    expect(types).toStrictEqual(['reset', 'reset']);
    expect(tokens).toStrictEqual(['', '']);
  });

  test('that is silent too long is reopened', async () => {
    const tokens: string[] = [];
    const control = await startControl(
      () => ({}),
      ({ request }, stream) => {
        tokens.push(request.resumeToken);
        stream.write(event(request.resumeToken === '' ? 1 : 2));
      },
    );
    const boxoffice = client({ controlUrl: control.url, tenant: TENANT });
    const seen: bigint[] = [];
    for await (const { seq } of boxoffice.rooms.watch({}, { silentMsMax: 300 })) {
      seen.push(seq);
      if (seq === 2n) break;
    }
    expect(seen).toStrictEqual([1n, 2n]);
    expect([tokens[0], tokens.at(-1)]).toStrictEqual(['', 'after 1']);
  });

  test('that is refused ends with the refusal', async () => {
    const control = await startControl(
      () => ({}),
      (_, stream) => stream.emit('error', new Refusal('PERMISSION_DENIED', { reason: 'OTHER_TENANT' })),
    );
    const boxoffice = client({ controlUrl: control.url, tenant: TENANT });
    const next = boxoffice.rooms.watch().next();
    expect(await errorOf(next)).toMatchObject({ kind: 'Denied', reason: 'OTHER_TENANT' });
    expect(control.received).toHaveLength(1);
  });

  test('ends with the reason of the signal, and the service sees the cancellation', async () => {
    let cancelled = false;
    const control = await startControl(
      () => ({}),
      (_, stream) => {
        stream.on('cancelled', () => {
          cancelled = true;
        });
        stream.write(event(1));
      },
    );
    const boxoffice = client({ controlUrl: control.url, tenant: TENANT });
    const aborting = new AbortController();
    const reason = new Error('enough');
    const watching = async () => {
      for await (const _ of boxoffice.rooms.watch({}, { signal: aborting.signal })) {
        setTimeout(() => aborting.abort(reason));
      }
    };
    await expect(watching()).rejects.toBe(reason);
    await expect.poll(() => cancelled).toBe(true);
  });
});

describe('a client that is closed', () => {
  const closed = new ClientClosed();

  test('refuses later calls, and sends nothing', async () => {
    const fetch = vi.fn();
    const { control, boxoffice } = await clientOf([room], { fetch });
    boxoffice.close();
    boxoffice.close();
    await expect(boxoffice.rooms.get({ room: 'lobby' })).rejects.toStrictEqual(closed);
    await expect(boxoffice.billing.get()).rejects.toStrictEqual(closed);
    await expect(boxoffice.rooms.list().pages().next()).rejects.toStrictEqual(closed);
    await expect(boxoffice.rooms.watch().next()).rejects.toStrictEqual(closed);
    await expect(boxoffice.webhooks.followEvents().next()).rejects.toStrictEqual(closed);
    expect([control.received, fetch.mock.calls]).toStrictEqual([[], []]);
  });

  test.each([undefined, new AbortController().signal])(
    'ends what follows events, with the signal %j',
    async (signal) => {
      const control = await startControl(
        () => ({}),
        (_, stream) => void stream.write(event(1)),
      );
      const boxoffice = client({ controlUrl: control.url, tenant: TENANT });
      const watching = async () => {
        for await (const _ of boxoffice.rooms.watch({}, { signal })) setTimeout(() => boxoffice.close());
      };
      await expect(watching()).rejects.toStrictEqual(closed);
    },
  );

  test('ends a stream that waits to be reopened', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(1);
    const control = await startControl(
      () => ({}),
      (_, stream) => void stream.emit('error', new Refusal('UNAVAILABLE', { retryDelayMs: 3_600_000 })),
    );
    const boxoffice = client({ controlUrl: control.url, tenant: TENANT });
    const next = expect(boxoffice.rooms.watch().next()).rejects.toStrictEqual(closed);
    await expect.poll(() => control.received.length).toBe(1);
    boxoffice.close();
    await next;
  });

  test('ends what asks for events, in the middle of a request', async () => {
    let reason: unknown;
    const fetch = async (_: unknown, init?: RequestInit) => {
      setTimeout(() => boxoffice.close());
      return await new Promise<Response>((_, reject) => {
        init!.signal!.addEventListener('abort', () => {
          reason ??= init!.signal!.reason;
          reject(reason);
        });
      });
    };
    const boxoffice = client({ fetch: fetch as typeof globalThis.fetch });
    await expect(boxoffice.webhooks.followEvents().next()).rejects.toStrictEqual(closed);
    expect(reason).toStrictEqual(closed);
  });

  test('says how the last attempt of a call failed', async () => {
    const failing = await clientOf([
      () => {
        failing.boxoffice.close();
        throw new Refusal('UNAVAILABLE');
      },
    ]);
    const failure = await errorOf(failing.boxoffice.rooms.create({ room: 'lobby' }));
    expect(failure).toMatchObject({ kind: 'Unavailable' });
    expect(failing.control.received).toHaveLength(1);
  });

  test('lets requests in progress finish', async () => {
    const fetch = async () => {
      boxoffice.close();
      return Response.json({ tenant: { id: TENANT } });
    };
    const boxoffice = client({ fetch: fetch as typeof globalThis.fetch });
    expect((await boxoffice.billing.get()).tenant.id).toBe(TENANT);
    const answering = await clientOf([
      () => {
        answering.boxoffice.close();
        return room();
      },
    ]);
    expect(await answering.boxoffice.rooms.get({ room: 'lobby' })).toMatchObject({ name: 'lobby' });
  });
});

describe('the tenant', () => {
  test('is looked up once for all calls', async () => {
    let asked = 0;
    const fetch = async () => {
      asked += 1;
      return Response.json({ tenant: { id: TENANT } });
    };
    const { control, boxoffice } = await clientOf([room], { tenant: undefined, fetch });
    await Promise.all([boxoffice.rooms.get({ room: 'a' }), boxoffice.rooms.get({ room: 'b' })]);
    await boxoffice.rooms.get({ room: 'c' });
    expect(asked).toBe(1);
    expect(control.received.map(({ request }) => request.tenant)).toEqual([TENANT, TENANT, TENANT]);
  });

  test('is looked up again after a failure', async () => {
    const answers = [
      Response.json({ error: 'tenant is not active' }, { status: 403 }),
      Response.json({ tenant: { id: TENANT } }),
    ];
    const { boxoffice } = await clientOf([room], { tenant: undefined, fetch: async () => answers.shift()! });
    const error = await errorOf(boxoffice.rooms.get({ room: 'a' }));
    expect(error).toMatchObject({ kind: 'Denied', code: 403, message: 'tenant is not active' });
    expect(await boxoffice.rooms.get({ room: 'a' })).toMatchObject({ name: 'lobby' });
  });
});

describe('the API key', () => {
  const secret = API_KEY.split('_')[2]!;
  const shown = (value: unknown) => inspect(value, { depth: 20, showHidden: true });

  test('appears neither in the client nor in errors', async () => {
    const { boxoffice } = await clientOf([refuse('UNAVAILABLE')], { retries: 0 });
    const unreachable = client({ tenant: TENANT, retries: 0 });
    expect(shown(boxoffice)).not.toContain(secret);
    const errors = await Promise.all([
      errorOf(boxoffice.rooms.get({ room: 'x' })),
      errorOf(unreachable.rooms.get({ room: 'x' })),
      errorOf(unreachable.keys.list()),
    ]);
    for (const error of errors) {
      expect(shown(error) + error.stack + JSON.stringify(error)).not.toContain(secret);
    }
    expect(JSON.stringify(boxoffice)).not.toContain(secret);
  });

  test.each([`${API_KEY}\n`, `${API_KEY} `, `${API_KEY}\u00e9`, '', undefined])(
    '%j is refused without being repeated',
    (apiKey) => {
      const make = () => client({ apiKey: apiKey as string });
      expect(make).toThrow(new TypeError('apiKey must be printable ASCII characters'));
    },
  );
});

test.each([{ url: 'boxoffice.example' }, { controlUrl: 'localhost:8081' }, { retries: -1 }])(
  '%j is refused',
  (options) => expect(() => client(options)).toThrow(TypeError),
);
