import { once } from 'node:events';
import { ModerationService } from '@boxoffice/contract/moderation_service';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import type { FeedItem, FeedStream } from '../../../src/control/revocations/feed-stream.ts';
import { endRoom } from '../../../src/control/rooms/end-room.ts';
import { useControl } from '../../support/grpc.ts';
import { useService } from '../../support/service.ts';
import { mint, newStage, type Stage } from '../moderation/support.ts';
import { hashed, readSnapshot } from './support.ts';

const app = useService();
const controlOf = useControl(app);

let stage: Stage;
let gone: AbortController;
beforeEach(async () => {
  stage = await newStage(app, controlOf);
  await mint(stage, 'bob');
  gone = new AbortController();
});
afterEach(() => {
  gone.abort();
  vi.restoreAllMocks();
});

const kick = () =>
  stage.control.call(ModerationService.method.kickParticipant, { room: 'lobby', username: 'bob' });

function poll(after?: number, address = '192.0.2.1', service = app.service): Promise<string> {
  return service.deps.revocations.poll({
    tenant: parseTenantId(stage.tenant.id)!,
    after: after === undefined ? undefined : BigInt(after),
    address,
    signal: gone.signal,
  });
}

const seqOf = async (jws: string) => (await readSnapshot(app, jws)).seq;

/** Names of the statements that run from now on. */
function watchQueries(service = app.service): string[] {
  const names: string[] = [];
  const { db } = service.deps;
  const query = db.query.bind(db) as (...args: unknown[]) => unknown;
  vi.spyOn(db, 'query').mockImplementation(((...args: unknown[]) => {
    names.push((args[0] as { name?: string }).name ?? 'other');
    return query(...args);
  }) as never);
  return names;
}

const count = (names: readonly string[], wanted: string) => names.filter((name) => name === wanted).length;

test('a thousand relays that poll at once cost one read and one signature', async () => {
  const names = watchQueries();
  const sign = vi.spyOn(app.service.deps.signer, 'sign');
  const answers = await Promise.all(
    Array.from({ length: 1000 }, (_, index) => poll(undefined, `192.0.2.${index % 250}`)),
  );
  expect([new Set(answers).size, count(names, 'find-revocations'), sign.mock.calls.length]).toStrictEqual([
    1, 1, 1,
  ]);
});

test('a thousand waiting relays cost a query a second, and one read per change', async () => {
  const seq = await seqOf(await poll());
  const names = watchQueries();
  const sign = vi.spyOn(app.service.deps.signer, 'sign');
  const begunAt = performance.now();
  const answers = Array.from({ length: 1000 }, (_, index) => poll(seq, `192.0.2.${index % 250}`));
  await vi.waitUntil(() => count(names, 'find-standings') >= 3, { timeout: 60_000 });
  const seconds = (performance.now() - begunAt) / 1000;
  // One for the first relay, one a second, and one for each wake-up.
  expect(count(names, 'find-standings')).toBeLessThanOrEqual(3 + seconds);
  expect(count(names, 'find-revocations')).toBe(0);

  await kick();
  const [jws] = new Set(await Promise.all(answers));
  expect((await readSnapshot(app, jws!)).epochs).toStrictEqual([[hashed('epoch', stage.roomUid, 'bob'), 1]]);
  expect(new Set(await Promise.all(answers)).size).toBe(1);
  expect([count(names, 'find-revocations'), sign.mock.calls.length]).toStrictEqual([1, 1]);
});

test('an outdated snapshot is never returned', async () => {
  const before = await poll();
  const waiting = poll(await seqOf(before));
  await kick();
  await waiting;
  expect(await seqOf(await poll())).toBe(await seqOf(await waiting));
});

describe('an answer that comes at once has every change from before the poll', () => {
  const epochsOf = async (jws: string) => (await readSnapshot(app, jws)).epochs;
  const kicked = (epoch: number) => [[hashed('epoch', stage.roomUid, 'bob'), epoch]];

  test('in every process, with and without the number of an older snapshot', async () => {
    const { service } = await app.another();
    const services = [app.service, service];
    const before = await Promise.all(services.map((each) => poll(undefined, '192.0.2.1', each)));
    for (const jws of before) expect(await epochsOf(jws)).toStrictEqual([]);
    for (const epoch of [1, 2, 3]) {
      await kick();
      for (const after of [undefined, 0]) {
        const answers = await Promise.all(services.map((each) => poll(after, '192.0.2.1', each)));
        for (const jws of answers) expect(await epochsOf(jws)).toStrictEqual(kicked(epoch));
      }
    }
  });

  test('also if the event has no number yet', async () => {
    const { service } = await app.another();
    const { deps } = service;
    await poll(undefined, '192.0.2.1', service);
    await inTransaction(deps.db, (tx) =>
      endRoom(tx, parseTenantId(stage.tenant.id)!, { uid: stage.roomUid }, 'ended'),
    );
    const { closed } = await readSnapshot(app, await poll(undefined, '192.0.2.1', service));
    expect(closed).toStrictEqual([hashed('room', stage.roomUid)]);
  });

  test('if another poll has begun to read before the change', async () => {
    const { service } = await app.another();
    await poll(undefined, '192.0.2.1', service);
    const { db } = service.deps;
    const query = db.query.bind(db) as (...args: unknown[]) => unknown;
    const isRead = Promise.withResolvers<void>();
    const isKicked = Promise.withResolvers<void>();
    vi.spyOn(db, 'query').mockImplementation((async (...args: unknown[]) => {
      const answer = await query(...args);
      if ((args[0] as { name?: string }).name !== 'find-revocations') return answer;
      isRead.resolve();
      await isKicked.promise;
      return answer;
    }) as never);
    await kick();
    const first = poll(undefined, '192.0.2.1', service);
    await isRead.promise;
    await kick();
    const second = poll(undefined, '192.0.2.1', service);
    isKicked.resolve();
    expect(await epochsOf(await second)).toStrictEqual(kicked(2));
    await first;
  });

  test('if the check fails', async () => {
    const { service } = await app.another();
    await poll(undefined, '192.0.2.1', service);
    const { db } = service.deps;
    const query = db.query.bind(db) as (...args: unknown[]) => unknown;
    vi.spyOn(db, 'query').mockImplementation((async (...args: unknown[]) => {
      if ((args[0] as { name?: string }).name === 'find-standings') throw new Error('it is away');
      return query(...args);
    }) as never);
    await kick();
    expect(await epochsOf(await poll(undefined, '192.0.2.1', service))).toStrictEqual(kicked(1));
  });

  test('if the service is stopping', async () => {
    const { service } = await app.another();
    await poll(undefined, '192.0.2.1', service);
    await kick();
    const answers = [poll(undefined, '192.0.2.1', service)];
    const closed = service.deps.revocations.close();
    answers.push(poll(undefined, '192.0.2.1', service));
    await closed;
    await kick();
    answers.push(poll(undefined, '192.0.2.1', service));
    const [first, second, third] = await Promise.all(answers);
    for (const jws of [first!, second!]) expect((await epochsOf(jws))[0]![1]).toBeGreaterThanOrEqual(1);
    expect(await epochsOf(third!)).toStrictEqual(kicked(2));
  });
});

test('a thousand polls that are answered from one snapshot cost one query, and no read', async () => {
  await poll();
  const names = watchQueries();
  await Promise.all(Array.from({ length: 1000 }, (_, index) => poll(undefined, `192.0.2.${index % 250}`)));
  expect([count(names, 'find-revocations'), count(names, 'find-standings')]).toStrictEqual([0, 1]);
});

test('a process that was not woken finds changes by itself', async () => {
  const { service } = await app.another();
  vi.spyOn(service.deps.events, 'wait').mockImplementation(() => new Promise(() => {}));
  const seq = await seqOf(await poll(undefined, '192.0.2.1', service));
  const waiting = poll(seq, '192.0.2.1', service);
  await kick();
  expect(await seqOf(await waiting)).toBeGreaterThan(seq);
});

test('polls of a busy tenant are answered', async () => {
  const { service } = await app.another();
  const { db } = service.deps;
  const seq = await seqOf(await poll(undefined, '192.0.2.1', service));
  // While this poll waits, changes are noticed.
  const waiting = poll(seq + 1000, '192.0.2.1', service);
  const query = db.query.bind(db) as (...args: unknown[]) => unknown;
  let looks = 0;
  let isBusy = true;
  vi.spyOn(db, 'query').mockImplementation((async (...args: unknown[]) => {
    const { name } = args[0] as { name?: string };
    const answer = await query(...args);
    if (name === 'find-standings') looks += 1;
    if (name === 'find-revocations' && isBusy) {
      await kick();
      const before = looks;
      // One read may have begun before.
      await vi.waitUntil(() => looks >= before + 2, { timeout: 60_000, interval: 5 });
    }
    return answer;
  }) as never);
  await kick();
  expect(await seqOf(await poll(seq, '192.0.2.1', service))).toBeGreaterThan(seq);
  isBusy = false;
  gone.abort();
  await waiting;
});

test('a failed query is repeated', async () => {
  const { service } = await app.another();
  const seq = await seqOf(await poll(undefined, '192.0.2.1', service));
  const waiting = poll(seq, '192.0.2.1', service);
  const { db } = service.deps;
  const query = db.query.bind(db) as (...args: unknown[]) => unknown;
  const failing = new Set(['find-standings', 'find-revocations']);
  vi.spyOn(db, 'query').mockImplementation((async (...args: unknown[]) => {
    const { name } = args[0] as { name?: string };
    if (name !== undefined && failing.delete(name)) throw new Error('the database is away');
    return query(...args);
  }) as never);
  await kick();
  expect(await seqOf(await waiting)).toBeGreaterThan(seq);
  expect(failing.size).toBe(0);
});

test('a poll with a number from the future waits for it', async () => {
  const seq = await seqOf(await poll());
  let isAnswered = false;
  const waiting = poll(seq + 1000).finally(() => {
    isAnswered = true;
  });
  await kick();
  expect(await seqOf(await poll(seq))).toBeGreaterThan(seq);
  expect(isAnswered).toBe(false);
  gone.abort();
  await waiting;
});

test('tenants that never paid, or that do not exist, take two reads at once, and others go ahead', async () => {
  const { service } = await app.another();
  const { revocations, db } = service.deps;
  const query = db.query.bind(db) as (...args: unknown[]) => unknown;
  const own = parseTenantId(stage.tenant.id)!;
  const held = Promise.withResolvers<void>();
  let reads = 0;
  vi.spyOn(db, 'query').mockImplementation((async (...args: unknown[]) => {
    const { name, values } = args[0] as { name?: string; values?: unknown[] };
    if (name === 'find-revocations' && values?.[0] !== own) {
      reads += 1;
      await held.promise;
    }
    return query(...args);
  }) as never);
  const of = (tenant: string) =>
    revocations.poll({
      tenant: parseTenantId(tenant)!,
      after: undefined,
      address: '192.0.2.2',
      signal: gone.signal,
    });
  const pending = await app.signUp();
  const strangers = Array.from({ length: 20 }, (_, at) => of(`t_${String(at).padStart(16, '0')}`));
  const unpaid = of(pending.id);
  const refused = Promise.allSettled(strangers);
  await vi.waitUntil(() => reads > 0, { timeout: 60_000 });
  expect(await seqOf(await poll(undefined, '192.0.2.1', service))).toBe(await seqOf(await poll()));
  expect(reads).toBe(2);
  held.resolve();
  for (const answer of await refused) expect(answer).toMatchObject({ reason: { kind: 'not_found' } });
  expect(await seqOf(await unpaid)).toBe(0);
});

describe('a relay that disconnects', () => {
  test('is forgotten at once', async () => {
    const seq = await seqOf(await poll());
    const waiting = Array.from({ length: 200 }, () => poll(seq));
    await expect(poll()).rejects.toMatchObject({ kind: 'too_many_streams' });
    gone.abort();
    await Promise.all(waiting);
    expect(await seqOf(await poll())).toBe(seq);
  });
});

test('a service that stops answers waiting and new polls', async () => {
  const { service } = await app.another();
  const seq = await seqOf(await poll(undefined, '192.0.2.1', service));
  const waiting = poll(seq, '192.0.2.1', service);
  await service.deps.revocations.close();
  expect(await seqOf(await waiting)).toBe(seq);
  expect(await seqOf(await poll(seq, '192.0.2.1', service))).toBe(seq);
});

test('a snapshot is signed by the active key, and has a type of its own', async () => {
  const { service } = await app.another();
  const jws = await poll(undefined, '192.0.2.1', service);
  const { rows } = await app.service.deps.db.query(`select kid from signing_keys where state = 'active'`);
  const header = JSON.parse(Buffer.from(jws.split('.')[0]!, 'base64url').toString());
  expect(header).toStrictEqual({ alg: 'ES256', kid: rows[0]!.kid, typ: 'revocations+jwt' });
});

describe('a stream', () => {
  const follow = async (service = app.service) => {
    const tenant = parseTenantId(stage.tenant.id)!;
    const render = (item: FeedItem) =>
      Buffer.from(item.type === 'revocations' ? `${item.snapshot.jws} ` : '');
    const following = { tenant, address: '192.0.2.1', relay: undefined, render };
    const stream = await service.deps.revocations.follow(following);
    gone.signal.addEventListener('abort', () => stream.destroy());
    return stream;
  };
  /** What the stream has ready, in order; nothing more is taken from it. */
  const take = async (stream: FeedStream) => {
    if (stream.readableLength === 0) await once(stream, 'readable');
    return String(stream.read()).trim().split(' ');
  };
  const epochIn = async (jws: string) => (await readSnapshot(app, jws)).epochs[0]?.[1] ?? 0;
  const epochsOf = async (stream: FeedStream) => await Promise.all((await take(stream)).map(epochIn));
  const epochOf = async (stream: FeedStream) => (await epochsOf(stream)).at(-1)!;

  test('of a slow reader has one snapshot in its queue, and then the newest', async () => {
    const stream = await follow();
    expect(await epochOf(stream)).toBe(0);
    for (const _ of [1, 2, 3]) {
      const changed = poll(await seqOf(await poll()));
      await kick();
      await changed;
    }
    const epochs = await epochsOf(stream);
    while (epochs.at(-1)! < 3) epochs.push(...(await epochsOf(stream)));
    expect(epochs.length).toBeLessThanOrEqual(2);
  });

  test('of a process that was not woken finds changes by itself', async () => {
    const { service } = await app.another();
    vi.spyOn(service.deps.events, 'wait').mockImplementation(() => new Promise(() => {}));
    const items = await follow(service);
    expect(await epochOf(items)).toBe(0);
    const next = epochOf(items);
    await kick();
    expect(await next).toBe(1);
  });

  test('takes a place until the reader has gone', async () => {
    const streams = await Promise.all(Array.from({ length: 200 }, () => follow()));
    await expect(follow()).rejects.toMatchObject({ kind: 'too_many_streams' });
    const followers = async () => (await app.service.deps.metrics.revocationFollowers.get()).values;
    expect(await followers()).toContainEqual({ labels: { key: 'none' }, value: 200 });
    const closed = streams.map((stream) => once(stream, 'close'));
    gone.abort();
    await Promise.all(closed);
    expect(await followers()).toContainEqual({ labels: { key: 'none' }, value: 0 });
    gone = new AbortController();
    expect(await epochOf(await follow())).toBe(0);
  });

  test('two hundred streams cost one read per change', async () => {
    const streams = await Promise.all(Array.from({ length: 200 }, () => follow()));
    await Promise.all(streams.map(take));
    const names = watchQueries();
    const next = streams.map(async (stream) => (await take(stream)).at(-1)!);
    await kick();
    const [jws, ...others] = new Set(await Promise.all(next));
    expect(others).toEqual([]);
    expect(await epochIn(jws!)).toBe(1);
    expect(count(names, 'find-revocations')).toBe(1);
  });
});
