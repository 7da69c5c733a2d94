/**
 * Verifying webhooks, and following events. After a change of webhook-vectors.ts, write the vectors again:
 * `WRITE_VECTORS=1 npm test -- test/sdk/backend/webhooks.test.ts && npm run format`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type Boxoffice,
  verifyWebhook,
  verifyWebhookEvents,
  verifyWebhookSignature,
  WebhookRefused,
} from '../../../sdk/typescript/src/backend/index.ts';
import { signWebhook } from '../../../src/outward/webhooks/signature.ts';
import { newSecret } from '../../../src/outward/webhooks/webhook-secret.ts';
import { client, errorOf, onEnd } from './support.ts';
import { WEBHOOK_VECTORS } from './webhook-vectors.ts';

const PATH = new URL('../../../docs/vectors/webhooks.json', import.meta.url);
if (process.env.WRITE_VECTORS) writeFileSync(PATH, `${JSON.stringify(WEBHOOK_VECTORS, undefined, 2)}\n`);

interface Vector {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code: string | null;
  readonly event?: Readonly<Record<string, unknown>>;
}
const file: { readonly now: number; readonly vectors: readonly Vector[] } = JSON.parse(
  readFileSync(PATH, 'utf8'),
);
const now = new Date(file.now * 1000);

/** Why it is refused; `null`: it is not. */
function codeOf(work: () => unknown): string | null {
  try {
    work();
    return null;
  } catch (error) {
    if (error instanceof WebhookRefused) return error.code;
    if (error instanceof TypeError) return 'BAD_SECRET';
    throw error;
  }
}

describe('several events in a request', () => {
  const { secret, keys } = newSecret();
  const one = (id: string) =>
    `{"id":"${id}","seq":0,"type":"webhook_test","timestamp":"2026-11-22T18:00:00.000Z","data":{}}`;
  const headersOf = (body: string) => signWebhook({ id: 'evb_1', at: new Date(), body }, [keys]);

  test.each([
    [one('evt_1'), ['evt_1']],
    [`{"events":[${one('evt_1')}]}`, ['evt_1']],
    [`{"events":[${one('evt_1')},${one('evt_2')}]}`, ['evt_1', 'evt_2']],
  ])('%s', (body, ids) => {
    const events = verifyWebhookEvents(secret, headersOf(body), body);
    expect(events.map(({ id }) => id)).toEqual(ids);
  });

  test.each([
    '{"events":[]}',
    '{"events":[{}]}',
    `{"events":[${one('evt_1')},{}]}`,
    `[${one('evt_1')}]`,
    '{}',
    'null',
    'x',
  ])('%s is none, but its signature is genuine', (body) => {
    expect(codeOf(() => verifyWebhookEvents(secret, headersOf(body), body))).toBe('BAD_BODY');
    expect(codeOf(() => verifyWebhookSignature(secret, headersOf(body), body))).toBeNull();
  });

  test('as a list are refused by verifyWebhook, which names the function that reads them', () => {
    const body = `{"events":[${one('evt_1')}]}`;
    expect(() => verifyWebhook(secret, headersOf(body), body)).toThrow('verifyWebhookEvents');
  });

  test('of another body is refused', () => {
    for (const verify of [verifyWebhookEvents, verifyWebhookSignature])
      expect(codeOf(() => verify(secret, headersOf(one('evt_1')), one('evt_2')))).toBe('BAD_SIGNATURE');
  });
});

describe('the vectors of webhooks', () => {
  test('are those of webhook-vectors.ts, with names of their own', () => {
    expect(file).toStrictEqual(JSON.parse(JSON.stringify(WEBHOOK_VECTORS)));
    expect(new Set(file.vectors.map(({ name }) => name)).size).toBe(file.vectors.length);
  });

  test.each(file.vectors)('$name', ({ secrets, headers, body, code, event }) => {
    for (const each of [body, new TextEncoder().encode(body)]) {
      for (const fields of [headers, new Headers(headers)]) {
        expect(codeOf(() => verifyWebhook(secrets, fields, each, { now }))).toBe(code);
      }
    }
    if (!event) return;
    const { seq, schema_version, skipped, timestamp, ...others } = event;
    expect(verifyWebhook(secrets, headers, body, { now })).toMatchObject({
      ...others,
      seq: BigInt(seq as number),
      ...(schema_version !== undefined && { schemaVersion: schema_version }),
      ...(skipped !== undefined && { skipped: BigInt(skipped as number) }),
      timestamp: new Date(timestamp as string),
    });
  });
});

describe('verifyWebhook', () => {
  const { secret, keys } = newSecret();
  const body =
    '{"id":"evt_1","seq":9007199254740993,"type":"moderation","timestamp":"2026-11-22T18:00:00Z","data":{}}';
  const signed = (at = new Date()) => signWebhook({ id: 'evt_1', at, body }, [keys]);

  test('takes what the service signs, now, and keeps every digit of numbers', () => {
    expect(verifyWebhook(secret, signed(), body)).toMatchObject({ seq: 9_007_199_254_740_993n });
    const old = signed(new Date(Date.now() - 310_000));
    expect(codeOf(() => verifyWebhook(secret, old, body))).toBe('STALE');
  });

  test('gives data the type that it has by the type of the event', () => {
    const data = {
      balance: { micros: -5, display: '-$0.000005' },
      below: { micros: 7, display: '$0.000007' },
    };
    const low = body.replace('moderation', 'balance_low').replace('{}', JSON.stringify(data));
    const event = verifyWebhook(secret, signWebhook({ id: 'evt_1', at: new Date(), body: low }, [keys]), low);
    if (event.type !== 'balance_low') throw new Error('another type');
    const micros: number = event.data.balance.micros;
    expect(micros).toBe(-5);
    // @ts-expect-error: its data has no such member.
    const other: string = event.data.webhook_id;
    expect(other).toBeUndefined();
  });

  test('refuses a header that is there twice', () => {
    const headers = signed();
    const twice = { ...headers, 'webhook-id': ['evt_1', 'evt_1'] };
    expect(codeOf(() => verifyWebhook(secret, twice, body))).toBe('MISSING_HEADER');
    const inTwoCases = { ...headers, 'Webhook-Id': 'evt_1' };
    expect(codeOf(() => verifyWebhook(secret, inTwoCases, body))).toBe('MISSING_HEADER');
  });

  test('wants the raw body, and no time that is none', () => {
    expect(() => verifyWebhook(secret, signed(), JSON.parse(body))).toThrow(
      new TypeError('body must be the raw body: bytes, or a string'),
    );
    const never = { now: new Date(Number.NaN) };
    expect(codeOf(() => verifyWebhook(secret, signed(), body, never))).toBe('STALE');
  });

  test('tells no secret', () => {
    const wrong = `${secret}!`;
    const message = vi.fn((error: Error) => error.message);
    try {
      verifyWebhook(wrong, signed(), body);
    } catch (error) {
      message(error as Error);
    }
    expect(message).toHaveReturnedWith('secrets must be one or more texts: whsec_ and base64');
  });
});

describe('webhooks.followEvents', () => {
  beforeEach(() => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onEnd(() => void vi.restoreAllMocks());
  });

  const event = (seq: number) => ({ id: `evt_${seq}`, seq, type: 'moderation', timestamp: now, data: {} });
  const page = (after: number, ...seqs: number[]) => {
    return () => Response.json({ events: seqs.map(event), after, more: false });
  };

  /** A client whose requests get `answers` in turn; then they wait for ever. */
  function clientOf(...answers: (() => Response)[]): { boxoffice: Boxoffice; sent: string[] } {
    const sent: string[] = [];
    const fetch = (url: string | URL | Request, init?: RequestInit) => {
      const { pathname, search } = new URL(String(url));
      sent.push(pathname + search);
      const answer = answers[sent.length - 1];
      if (answer) return Promise.resolve(answer());
      return new Promise<Response>((_, reject) => {
        init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
      });
    };
    return { sent, boxoffice: client({ url: 'https://boxoffice.example/', retries: 0, fetch }) };
  }

  test('goes on after the last page, over failures and pages without events, until the signal aborts', async () => {
    const failing = () => Response.json({ error: 'why' }, { status: 503 });
    const { boxoffice, sent } = clientOf(page(7, 6, 7), failing, page(9), page(10, 10));
    const aborting = new AbortController();
    const seqs: bigint[] = [];
    const follow = async () => {
      const request = { after: 5n, types: ['moderation', 'key_created'] as const };
      for await (const { seq } of boxoffice.webhooks.followEvents(request, { signal: aborting.signal })) {
        seqs.push(seq);
        if (seq === 10n) aborting.abort(new Error('enough'));
      }
    };
    await expect(follow()).rejects.toThrow('enough');
    expect(seqs).toStrictEqual([6n, 7n, 10n]);
    const others = 'types=moderation%2Ckey_created&wait_seconds=20';
    expect(sent.slice(0, 4)).toStrictEqual(
      [5, 7, 7, 9].map((after) => `/v1/events?after=${after}&${others}`),
    );
  });

  test('ends when the service refuses the place', async () => {
    const gone = () => Response.json({ error: 'invalid request: after is gone' }, { status: 400 });
    const { boxoffice, sent } = clientOf(gone);
    expect(await errorOf(boxoffice.webhooks.followEvents().next())).toMatchObject({ kind: 'Invalid' });
    expect(sent).toStrictEqual(['/v1/events?wait_seconds=20']);
  });
});
