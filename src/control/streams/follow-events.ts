/**
 * Follow the events of a tenant: first a snapshot, unless the stream resumes at a place, then each event once
 * and in order.
 *
 * A place whose next event is no longer kept, or that a restored database does not know, starts over with a
 * snapshot.
 */

import type { Caller } from '../../access/keys/api-key.ts';
import { assertKeyStillWorks } from '../../access/keys/assert-key-still-works.ts';
import type { KeyLookups } from '../../access/keys/key-lookups.ts';
import { findKeysById } from '../../access/keys/keys.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { BaseDeps } from '../../base/deps.ts';
import type { CallQueue } from '../../base/tenants/call-queue.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Place } from '../../events/event.ts';
import type { EventWaker } from '../../events/event-waker.ts';
import { inLogSnapshot } from '../../events/log-snapshot.sql.ts';
import { numberEvents } from '../../events/number-events.ts';
import { getRoom } from '../rooms/get-room.ts';
import type { Participant } from '../rooms/participant.ts';
import { findPresentParticipants } from '../rooms/participants.sql.ts';
import type { Room } from '../rooms/room.ts';
import { findLiveRooms } from '../rooms/rooms.sql.ts';
import type { Watchdog } from '../watchdogs/watchdog.ts';
import { listWaitingWatchdogs } from '../watchdogs/watchdogs.sql.ts';
import { notRead, type Send, SnapshotBuffer, type SnapshotBufferLimits } from './snapshot-buffer.ts';
import type { SnapshotLimit } from './snapshot-limit.ts';
import type { EventFilter, StreamItem } from './stream-event.ts';
import { listStreamEvents } from './stream-events.sql.ts';
import type { StreamLimit } from './stream-limit.ts';

/** Clients take a stream for dead after 15 s of silence. */
const BOOKMARK_MS = 10_000;
const PAGE_SIZE = 200;
/** The read of a snapshot holds a connection, and old row versions. */
const SNAPSHOT_MS_MAX = 60_000;

export interface StreamDeps extends BaseDeps {
  readonly events: EventWaker;
  readonly streams: StreamLimit;
  readonly snapshots: SnapshotLimit;
  readonly calls: CallQueue;
  readonly keyLookups: KeyLookups;
}

export interface Following extends EventFilter {
  /** The last place that the client has processed; `undefined`: none. */
  readonly after: Place | undefined;
  /** Aborted when the client stops reading. */
  readonly signal: AbortSignal;
  /** The longest silence of the stream, in milliseconds; for tests. */
  readonly bookmarkMs?: number;
  /** For tests. */
  readonly snapshotBuffer?: SnapshotBufferLimits;
}

/** The caller of a stream, whose key must work for as long as the stream runs. */
export type Follower = Pick<Caller, 'keyId'> & LimitedCaller;

/**
 * Resolves when `signal` is aborted. Fails with `not_found` if no room ever had the name, with
 * `too_many_streams`, and, before the next item, as `assertKeyStillWorks()`.
 */
export async function followEvents(
  deps: StreamDeps,
  follower: Follower,
  following: Following,
  send: Send,
): Promise<void> {
  const { tenant } = follower;
  const { room } = following;
  if (room !== undefined) {
    await deps.calls.run(follower, () => getRoom(deps.db, tenant, { name: room, uid: undefined }));
  }
  const leave = deps.streams.enter(follower);
  try {
    await follow(deps, follower, following, send);
  } finally {
    leave();
  }
}

async function follow(deps: StreamDeps, follower: Follower, following: Following, send: Send): Promise<void> {
  const { tenant, keyId } = follower;
  const { after, signal, bookmarkMs = BOOKMARK_MS } = following;
  const readPage = (place: Place) =>
    deps.calls.run(follower, () =>
      listStreamEvents(deps.db, tenant, { ...following, after: place, limit: PAGE_SIZE }),
    );
  let reached = after;
  let due = performance.now() + bookmarkMs;
  const bookmark = async (place: Place) => {
    await send({ type: 'bookmark', ...place });
    due = performance.now() + bookmarkMs;
  };
  await deps.calls.run(follower, () => numberEvents(deps.db, [tenant]));
  while (!signal.aborted) {
    const page = reached && (await readPage(reached));
    if (!page?.isKept) {
      reached = await sendSnapshot(deps, follower, following, send);
      // A bookmark marks the snapshot as complete.
      if (reached && !signal.aborted) await bookmark(reached);
      continue;
    }
    const isDue = performance.now() >= due;
    // Checked after the read, so that no event is sent that happened after the key stopped working.
    if (isDue || page.events.length > 0) assertKeyStillWorks(await deps.keyLookups.find(keyId));
    for (const event of page.events) {
      if (signal.aborted) return;
      await send({ type: 'event', event });
    }
    reached = page.reached;
    if (isDue) await bookmark(reached);
    if (reached.seq < page.lastSeq) continue;
    await deps.events.wait(tenant, reached.seq, signal, Math.max(0, due - performance.now()));
  }
}

/** Send the state as of one instant. Returns the newest place, or `undefined` if the client went away. */
async function sendSnapshot(
  deps: StreamDeps,
  follower: Follower,
  following: Following,
  send: Send,
): Promise<Place | undefined> {
  const { tenant, keyId } = follower;
  const { signal } = following;
  await send({ type: 'reset' });
  const buffer = new SnapshotBuffer(send, signal, following.snapshotBuffer);
  const read = async (tx: Tx, place: Place) => {
    assertKeyStillWorks((await findKeysById(tx, [keyId])).get(keyId));
    const until = performance.now() + SNAPSHOT_MS_MAX;
    for await (const item of readSnapshot(tx, tenant, following)) {
      if (signal.aborted) break;
      await buffer.put(item);
      if (performance.now() > until) throw notRead();
    }
    return place;
  };
  const place = await deps.snapshots.inTurn(follower, signal, () => inLogSnapshot(deps.db, tenant, read));
  await buffer.drain();
  return place;
}

async function* readSnapshot(
  tx: Tx,
  tenant: TenantId,
  { room, only }: EventFilter,
): AsyncGenerator<StreamItem> {
  const limit = PAGE_SIZE;
  if (only !== 'participants') {
    const rooms = pages((last?: Room) => findLiveRooms(tx, tenant, { room, after: last?.name, limit }));
    for await (const subject of rooms) yield { type: 'snapshot', of: 'room', subject };
  }
  const present = pages((last?: Participant) =>
    findPresentParticipants(tx, tenant, { room, after: last, limit }),
  );
  for await (const subject of present) yield { type: 'snapshot', of: 'participant', subject };
  if (only !== 'participants') {
    const waiting = pages((last?: Watchdog) =>
      listWaitingWatchdogs(tx, tenant, { room, after: last?.id, limit }),
    );
    for await (const subject of waiting) yield { type: 'snapshot', of: 'watchdog', subject };
  }
}

/** Everything that `find` returns, a page at a time. It takes the last row of the previous page. */
async function* pages<Row>(find: (last?: Row) => Promise<Row[]>): AsyncGenerator<Row> {
  let page = await find();
  while (page.length > 0) {
    yield* page;
    page = page.length < PAGE_SIZE ? [] : await find(page.at(-1));
  }
}
