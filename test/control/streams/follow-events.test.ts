/** Many writers, several processes, and readers that are disconnected. */
import { RoomService } from '@boxoffice/contract/room_service';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { lockReferenceTables } from '../../../src/base/db/reference-tables.sql.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import { parseTenantId } from '../../../src/base/tenants/tenant.ts';
import type { Room } from '../../../src/control/rooms/room.ts';
import { type Follower, followEvents } from '../../../src/control/streams/follow-events.ts';
import type { StreamItem } from '../../../src/control/streams/stream-event.ts';
import { appendNumberedEvents } from '../../../src/events/append-events.sql.ts';
import type { Place } from '../../../src/events/event.ts';
import { numberEvents } from '../../../src/events/number-events.ts';
import { type Service, startService } from '../../../src/run/service.ts';
import { isBookmark, read, seqsOf, upTo } from '../../events/support.ts';
import { moved } from '../../support/append-only.ts';
import { emptyLog } from '../../support/events.ts';
import { control, useControl } from '../../support/grpc.ts';
import { changeReferenceTable } from '../../support/reference-tables.ts';
import { type TestTenant, useService } from '../../support/service.ts';
import { idOf, limitedCaller } from '../../support/tenants.ts';

const app = useService({ makesUpEvents: true });
const controlOf = useControl(app);
const { createRoom, updateRoomPolicy, endRoom, watchEvents, listEvents } = RoomService.method;
const LANES = 20;
const ROUNDS = 5;
/** A room is created and ended in each round of each lane. */
const EVENTS = LANES * ROUNDS * 2;

const BEGINNING: Place = { seq: 0n, at: null };

const followerOf = ({ id, keyId }: TestTenant): Follower => ({
  ...limitedCaller(parseTenantId(id)!),
  keyId,
});

let second: Service;
beforeAll(async () => {
  second = (await app.another()).service;
});

const waitFor = (check: () => unknown) => vi.waitFor(check, { timeout: 60_000, interval: 5 });

/** Twenty writers at once, on two services. */
async function write(tenant: TestTenant): Promise<void> {
  const doors = [app.service, second].map((service) => control({ port: service.grpcPort }, tenant));
  const lanes = Array.from({ length: LANES }, async (_, lane) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const of = doors[(lane + round) % 2]!;
      await of.call(createRoom, { room: `lane-${lane}` });
      await of.call(endRoom, { room: `lane-${lane}` });
    }
  });
  await Promise.all(lanes);
}

describe('with twenty writers', () => {
  test('events are gapless and in order, on both services', async () => {
    const tenant = await app.signUp();
    const readings = [app.service, second].map((service) =>
      read(control({ port: service.grpcPort }, tenant).follow(watchEvents, {})),
    );
    await Promise.all(readings.map((each) => each.until(isBookmark)));
    await write(tenant);
    for (const reading of readings) {
      await reading.until((each) => each.event!.seq === BigInt(EVENTS));
      expect(seqsOf(reading.responses)).toStrictEqual(upTo(EVENTS));
      await reading.cancel();
    }
  });

  test('a snapshot in the middle is consistent with the events after it', async () => {
    const tenant = await app.signUp();
    const writing = write(tenant);
    const live = new Set<string>();
    for (let round = 0; round < 5; round += 1) {
      const reading = read(controlOf(tenant).follow(watchEvents, {}));
      const snapshot = await reading.until(isBookmark);
      live.clear();
      const begun = snapshot.find(isBookmark)!.event!.seq;
      await reading.until((each) => each.event!.seq === BigInt(EVENTS));
      expect(seqsOf(reading.responses)).toStrictEqual(upTo(EVENTS).filter((seq) => seq > begun));
      for (const { event } of reading.responses) {
        if (event!.kind.case !== 'room') continue;
        const { uid, endTime } = event!.kind.value;
        // Rooms in the snapshot were created before, and end once.
        expect(live.has(uid)).toBe(endTime !== undefined);
        if (endTime) live.delete(uid);
        else live.add(uid);
      }
      expect([...live]).toStrictEqual([]);
      await reading.cancel();
    }
    await writing;
  });

  test('a reader that reconnects again and again gets each event once, in order', async () => {
    const tenant = await app.signUp();
    const doors = [app.service, second].map((service) => control({ port: service.grpcPort }, tenant));
    const writing = write(tenant);
    await waitFor(async () => expect((await doors[0]!.call(listEvents, {})).events).not.toHaveLength(0));
    const oldest = await doors[0]!.call(listEvents, { pageSize: 1 });
    const dealtWith = oldest.events.map((event) => event.seq);
    let { resumeToken } = oldest;
    for (let round = 0; dealtWith.length < EVENTS; round += 1) {
      const count = 1 + ((round * 7) % 23);
      const reading = read(doors[round % 2]!.follow(watchEvents, { resumeToken }));
      await waitFor(() =>
        expect(seqsOf(reading.responses).length).toBeGreaterThanOrEqual(
          Math.min(count, EVENTS - dealtWith.length),
        ),
      );
      await reading.cancel();
      // Some of the received events were not processed.
      for (const response of reading.responses.filter((each) => !isBookmark(each)).slice(0, count)) {
        dealtWith.push(response.event!.seq);
        resumeToken = response.resumeToken;
      }
    }
    await writing;
    expect(dealtWith).toStrictEqual(upTo(EVENTS));
  });

  test('a reader whose service stops resumes at the other one', async () => {
    const tenant = await app.signUp();
    const doomed = await startService(app.config, pino({ level: 'silent' }));
    const one = read(control({ port: doomed.grpcPort }, tenant).follow(watchEvents, {}));
    await one.until(isBookmark);
    const writing = write(tenant);
    await one.until((each) => each.event!.seq === 20n);
    await doomed.stop();
    expect(await one.ended).toMatchObject({ code: 'UNAVAILABLE' });
    const { resumeToken } = one.responses.at(-1)!;
    const other = read(controlOf(tenant).follow(watchEvents, { resumeToken }));
    await writing;
    await other.until((each) => each.event!.seq === BigInt(EVENTS));
    expect([...seqsOf(one.responses), ...seqsOf(other.responses)]).toStrictEqual(upTo(EVENTS));
    await other.cancel();
  });

  test('everything arrives without a listening connection', async () => {
    const tenant = await app.signUp();
    const reading = read(controlOf(tenant).follow(watchEvents, {}));
    await reading.until(isBookmark);
    let cutting = true;
    const cuts = (async () => {
      while (cutting) {
        await app.service.deps.db.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and query = 'listen boxoffice_events'`,
        );
      }
    })();
    await write(tenant);
    await reading.until((each) => each.event!.seq === BigInt(EVENTS));
    cutting = false;
    await cuts;
    expect(seqsOf(reading.responses)).toStrictEqual(upTo(EVENTS));
    await reading.cancel();
  });
});

describe('followEvents', () => {
  const gone: AbortController[] = [];
  afterAll(() => {
    for (const each of gone) each.abort();
  });

  function follow(
    tenant: TestTenant,
    options: { after?: Place; bookmarkMs?: number; only?: 'participants' } = {},
  ) {
    const items: StreamItem[] = [];
    const controller = new AbortController();
    gone.push(controller);
    const following = { room: undefined, after: undefined, signal: controller.signal, ...options };
    const ended = followEvents(app.service.deps, followerOf(tenant), following, async (item) => {
      items.push(item);
    });
    ended.catch(() => {});
    return { items, ended, controller };
  }

  test('bookmarks come while nothing happens, and advance past events that are filtered out', async () => {
    const tenant = await app.signUp();
    const { items, ended, controller } = follow(tenant, {
      after: BEGINNING,
      bookmarkMs: 20,
      only: 'participants',
    });
    await controlOf(tenant).call(createRoom, { room: 'lobby' });
    await waitFor(() => expect(items.filter((item) => item.type === 'bookmark').length).toBeGreaterThan(5));
    await waitFor(() => expect(items.at(-1)).toMatchObject({ type: 'bookmark', seq: 1n }));
    expect(new Set(items.map((item) => item.type))).toStrictEqual(new Set(['bookmark']));
    controller.abort();
    await ended;
  });

  test('a reader that falls a week behind gets a new snapshot in the same stream', async () => {
    const tenant = await app.signUp();
    const { db } = app.service.deps;
    const of = controlOf(tenant);
    const turns = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    const items: StreamItem[] = [];
    const controller = new AbortController();
    const ended = followEvents(
      app.service.deps,
      followerOf(tenant),
      { room: undefined, after: BEGINNING, signal: controller.signal },
      async (item) => {
        items.push(item);
        await turns[items.length - 1]?.promise;
      },
    );
    await of.call(createRoom, { room: 'a' });
    await waitFor(() => expect(items).toHaveLength(1));
    for (const room of ['b', 'c', 'd']) await of.call(createRoom, { room });
    await numberEvents(db, [idOf(tenant)]);
    await db.query('delete from events where tenant_id = $1 and seq < 4', [idOf(tenant)]);
    for (const turn of turns) turn.resolve();
    await waitFor(() => expect(items.at(-1)).toMatchObject({ type: 'bookmark', seq: 4n }));
    const types = items.map((item) => (item.type === 'snapshot' ? item.of : item.type));
    expect(types).toStrictEqual(['event', 'reset', 'room', 'room', 'room', 'room', 'bookmark']);
    controller.abort();
    await ended;
  });

  test('an aborted snapshot has no bookmark, so no client takes it for complete', async () => {
    const tenant = await app.signUp();
    for (const room of ['a', 'b', 'c']) await controlOf(tenant).call(createRoom, { room });
    const types: string[] = [];
    const controller = new AbortController();
    const following = { room: undefined, after: undefined, signal: controller.signal };
    await followEvents(app.service.deps, followerOf(tenant), following, async (item) => {
      types.push(item.type);
      if (types.length === 2) controller.abort();
    });
    expect(types).toStrictEqual(['reset', 'snapshot']);
  });

  test('a reader that takes nothing of a snapshot for 5 s is dropped', async () => {
    const tenant = await app.signUp();
    await controlOf(tenant).call(createRoom, { room: 'lobby' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], shouldAdvanceTime: true });
    try {
      let isStuck = false;
      const { signal } = new AbortController();
      const following = { room: undefined, after: undefined, signal };
      const ended = followEvents(app.service.deps, followerOf(tenant), following, async (item) => {
        isStuck = item.type === 'snapshot';
        if (isStuck) await new Promise(() => {});
      }).catch((error: unknown) => error);
      await vi.waitUntil(() => isStuck, { timeout: 60_000 });
      vi.advanceTimersByTime(5_000);
      expect(await ended).toMatchObject({ kind: 'too_many_streams' });
    } finally {
      vi.useRealTimers();
    }
  });

  test('readers that take nothing of their snapshots keep nobody else from a snapshot', async () => {
    const stalled = [];
    for (let count = 0; count < 8; count += 1) {
      const tenant = await app.signUp();
      await controlOf(tenant).call(createRoom, { room: 'lobby' });
      const controller = new AbortController();
      gone.push(controller);
      const taken = Promise.withResolvers<void>();
      const following = { room: undefined, after: undefined, signal: controller.signal };
      followEvents(app.service.deps, followerOf(tenant), following, async (item) => {
        if (item.type !== 'snapshot') return;
        taken.resolve();
        await new Promise<void>((resolve) => controller.signal.addEventListener('abort', () => resolve()));
      }).catch(() => {});
      await taken.promise;
      stalled.push(controller);
    }
    const tenant = await app.signUp();
    await controlOf(tenant).call(createRoom, { room: 'lobby' });
    const { items } = follow(tenant);
    await waitFor(() =>
      expect(items.map(({ type }) => type)).toStrictEqual(['reset', 'snapshot', 'bookmark']),
    );
    for (const each of stalled) each.abort();
  });

  test('a snapshot that is larger than the buffer loses its turn when its reader takes nothing', async () => {
    const tenant = await app.signUp();
    for (const room of ['a', 'b', 'c', 'd']) await controlOf(tenant).call(createRoom, { room });
    const controller = new AbortController();
    gone.push(controller);
    const following = {
      room: undefined,
      after: undefined,
      signal: controller.signal,
      snapshotBuffer: { bytes: 1_024, stallMs: 20 },
    };
    const ended = followEvents(app.service.deps, followerOf(tenant), following, (item) =>
      item.type === 'snapshot' ? new Promise(() => {}) : Promise.resolve(),
    );
    await expect(ended).rejects.toMatchObject({ kind: 'too_many_streams' });
    const { items } = follow(tenant);
    await waitFor(() => expect(items.at(-1)?.type).toBe('bookmark'));
  });

  test('a snapshot of several pages has everything once', async () => {
    const tenant = await app.signUp();
    await app.service.deps.db.query(
      `insert into rooms (tenant_id, uid, name, incarnation, policy)
       select $1, 'rm_' || md5(n::text), 'room-' || n, 1, '{"hostCapabilities": [], "audienceCapabilities": []}'
         from generate_series(1, 950) n`,
      [parseTenantId(tenant.id)],
    );
    await app.service.deps.db.query(
      `insert into participants (tenant_id, room_uid, username, skeleton, role, rank, capabilities, expires_at)
       select $1, 'rm_' || md5((n % 7 + 1)::text), 'user-' || n, '', 'host', 1, '{}', now() + interval '1 hour'
         from generate_series(1, 800) n`,
      [parseTenantId(tenant.id)],
    );
    const { items, controller, ended } = follow(tenant);
    await waitFor(() => expect(items.at(-1)?.type).toBe('bookmark'));
    controller.abort();
    await ended;
    const names = items.flatMap((item) => {
      if (item.type !== 'snapshot') return [];
      return item.of === 'room' ? item.subject.name : item.of === 'participant' ? item.subject.username : [];
    });
    expect(names).toHaveLength(950 + 800);
    expect(new Set(names).size).toBe(950 + 800);
  });

  const INVALID_KEY = { kind: 'invalid_api_key' };
  const retire = `update api_keys set retires_at = now() where id = $1`;
  const remove = `update tenants set status = 'deleted' where id = (select tenant_id from api_keys where id = $1)`;
  test.each([
    ['was revoked', 'update api_keys set revoked_at = now() where id = $1', INVALID_KEY],
    ['has retired', retire, INVALID_KEY],
    ['is of a tenant that was deleted', remove, { kind: 'tenant_not_active' }],
  ])('a stream ends when its key %s, without later events', async (_, fell, failure) => {
    const tenant = await app.signUp();
    const { db, events } = app.service.deps;
    const other = await app.request('POST', '/v1/keys', {
      key: tenant.key,
      body: { name: 'second', kind: 'backend' },
    });
    await emptyLog(db, idOf(tenant));
    const of = control({ port: app.service.grpcPort }, { id: tenant.id, key: other.json.api_key });
    await of.call(createRoom, { room: 'before' });
    const resumed = follow(tenant, { after: BEGINNING });
    const begun = follow(tenant);
    await waitFor(() => expect(resumed.items).toHaveLength(1));
    await waitFor(() => expect(begun.items.at(-1)?.type).toBe('bookmark'));

    await inTransaction(db, async (tx) => {
      await lockReferenceTables(tx);
      await tx.query(fell, [tenant.keyId]);
      const what = { type: 'room_ended', subject: { name: 'after' } as Room } as const;
      await appendNumberedEvents(tx, parseTenantId(tenant.id)!, [{ roomUid: null, ...what }]);
    });
    events.wake(parseTenantId(tenant.id)!);
    for (const { ended } of [resumed, begun, follow(tenant)])
      await expect(ended).rejects.toMatchObject(failure);
    expect(resumed.items).toHaveLength(1);
    expect(begun.items.map((item) => item.type)).toStrictEqual(['reset', 'snapshot', 'bookmark']);
  });

  test('an idle stream notices the revocation of its key at the next bookmark', async () => {
    const tenant = await app.signUp();
    const { items, ended } = follow(tenant, { after: BEGINNING, bookmarkMs: 50 });
    await waitFor(() => expect(items.length).toBeGreaterThan(1));
    await changeReferenceTable(app.service.deps.db, 'update api_keys set revoked_at = now() where id = $1', [
      tenant.keyId,
    ]);
    await expect(ended).rejects.toMatchObject(INVALID_KEY);
    expect(new Set(items.map((item) => item.type))).toStrictEqual(new Set(['bookmark']));
  });

  test('a client that disconnects while others read their snapshots leaves the queue', async () => {
    const tenant = await app.signUp();
    const reading = Promise.withResolvers<void>();
    const { snapshots } = app.service.deps;
    const turn = snapshots.inTurn(followerOf(tenant), new AbortController().signal, () => reading.promise);
    const { items, ended, controller } = follow(tenant);
    await waitFor(() => expect(items).toHaveLength(1));
    controller.abort();
    await ended;
    expect(items.map((item) => item.type)).toStrictEqual(['reset']);
    reading.resolve();
    await turn;
  });

  describe('in a database that was restored', () => {
    const reset = ['reset', 'room', 'bookmark'];
    const typesOf = (items: readonly StreamItem[]) =>
      items.map((item) => (item.type === 'snapshot' ? item.of : item.type));

    async function placesOf(tenant: TestTenant): Promise<Place[]> {
      const { items, ended, controller } = follow(tenant, { after: BEGINNING, bookmarkMs: 100 });
      await waitFor(() => expect(items.at(-1)).toMatchObject({ type: 'bookmark', seq: 1n }));
      controller.abort();
      await ended;
      return items.flatMap((item) =>
        item.type === 'event' ? item.event : item.type === 'bookmark' && item.seq > 0n ? item : [],
      );
    }

    test('a place that it has not reached leads to a snapshot', async () => {
      const tenant = await app.signUp();
      await controlOf(tenant).call(createRoom, { room: 'lobby' });
      const { items } = follow(tenant, { after: { seq: 1_000n, at: new Date() } });
      await waitFor(() => expect(typesOf(items)).toStrictEqual(reset));
      await controlOf(tenant).call(endRoom, { room: 'lobby' });
      await waitFor(() => expect(items.at(-1)).toMatchObject({ type: 'event', event: { seq: 2n } }));
      const empty = follow(await app.signUp(), { after: { seq: 1n, at: new Date() } });
      await waitFor(() => expect(typesOf(empty.items)).toStrictEqual(['reset', 'bookmark']));
    });

    test('a place where it has another event leads to a snapshot, other places do not', async () => {
      const tenant = await app.signUp();
      await controlOf(tenant).call(createRoom, { room: 'lobby' });
      const places = await placesOf(tenant);
      expect(places.length).toBeGreaterThan(1);
      await controlOf(tenant).call(updateRoomPolicy, {
        room: 'lobby',
        policy: { locked: true },
        updateMask: { paths: ['locked'] },
      });
      for (const after of places) {
        const { items } = follow(tenant, { after });
        await waitFor(() => expect(typesOf(items)).toStrictEqual(['event']));
      }
      await app.service.deps.db.query(
        `update events set at = ${moved('at', '1 second')} where tenant_id = $1 and seq = 1`,
        [parseTenantId(tenant.id)],
      );
      for (const after of [...places, { seq: 1n, at: null }]) {
        const { items } = follow(tenant, { after });
        await waitFor(() => expect(typesOf(items)).toStrictEqual(reset));
      }
    });
  });
});
