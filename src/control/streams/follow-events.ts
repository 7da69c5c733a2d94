/**
 * Follow the events of a tenant: a snapshot first, or from where an earlier stream was left, then each
 * event once and in order.
 *
 * A place whose next event is not kept any more, or that the database knows nothing of since it was
 * restored, is answered like a beginning, with a snapshot.
 */

import type { Caller } from '../../access/keys/api-key.ts';
import { assertKeyStillWorks } from '../../access/keys/assert-key-still-works.ts';
import type { KeyLookups } from '../../access/keys/key-lookups.ts';
import { findWorkingKeys } from '../../access/keys/keys.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { inSnapshot } from '../../base/db/transaction.ts';
import type { BaseDeps } from '../../base/deps.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Place } from '../../events/event.ts';
import type { EventWaker } from '../../events/event-waker.ts';
import { findNewestPlace } from '../../events/events.sql.ts';
import { numberEvents } from '../../events/number-events.ts';
import { getRoom } from '../rooms/get-room.ts';
import type { Participant } from '../rooms/participant.ts';
import { findPresentParticipants } from '../rooms/participants.sql.ts';
import type { Room } from '../rooms/room.ts';
import { findLiveRooms } from '../rooms/rooms.sql.ts';
import type { Watchdog } from '../watchdogs/watchdog.ts';
import { listWaitingWatchdogs } from '../watchdogs/watchdogs.sql.ts';
import type { EventFilter, StreamItem } from './stream-event.ts';
import { listStreamEvents } from './stream-events.sql.ts';
import type { StreamLimit } from './stream-limit.ts';

/** A stream that says nothing for 15 s is dead. */
const BOOKMARK_MS = 10_000;
const PAGE_SIZE = 200;
/** A snapshot keeps a connection, and old rows, for as long as its reader takes. */
const SNAPSHOT_MS_MAX = 60_000;

export interface StreamDeps extends BaseDeps {
  readonly events: EventWaker;
  readonly streams: StreamLimit;
  readonly keyLookups: KeyLookups;
}

export interface Following extends EventFilter {
  /** What has been dealt with; `undefined`: nothing. */
  readonly after: Place | undefined;
  /** Given when nobody reads any more. */
  readonly signal: AbortSignal;
  /** How long a stream may say nothing, in milliseconds; for tests. */
  readonly bookmarkMs?: number;
}

/** Takes one item, and resolves when the next one may come. */
export type Send = (item: StreamItem) => Promise<void>;

/** Whose key it is that must stand for as long as a stream is followed. */
export type Follower = Pick<Caller, 'tenant' | 'keyId'>;

/**
 * Resolves when `signal` is aborted. Fails with `not_found` where no room ever bore the name,
 * `too_many_streams`, and, as soon as something would be told, as a new call with the key would.
 */
export async function followEvents(
  deps: StreamDeps,
  follower: Follower,
  following: Following,
  send: Send,
): Promise<void> {
  const { tenant } = follower;
  if (following.room !== undefined) await getRoom(deps.db, tenant, { name: following.room, uid: undefined });
  const leave = deps.streams.enter(tenant);
  try {
    await follow(deps, follower, following, send);
  } finally {
    leave();
  }
}

async function follow(deps: StreamDeps, follower: Follower, following: Following, send: Send): Promise<void> {
  const { tenant, keyId } = follower;
  const { after, signal, bookmarkMs = BOOKMARK_MS } = following;
  let reached = after;
  let due = performance.now() + bookmarkMs;
  const bookmark = async (place: Place) => {
    await send({ type: 'bookmark', ...place });
    due = performance.now() + bookmarkMs;
  };
  await numberEvents(deps.db, [tenant]);
  while (!signal.aborted) {
    const page =
      reached === undefined
        ? undefined
        : await listStreamEvents(deps.db, tenant, { ...following, after: reached, limit: PAGE_SIZE });
    if (!page?.isKept) {
      reached = await sendSnapshot(deps, follower, following, send);
      // A bookmark says that the snapshot is whole.
      if (reached && !signal.aborted) await bookmark(reached);
      continue;
    }
    const isDue = performance.now() >= due;
    // Looked for after the reading: of what was read, nothing happened after the key had fallen.
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

/** Send what is there, as of one instant; returns how far the events had come, unless nobody waits any more. */
async function sendSnapshot(
  deps: StreamDeps,
  { tenant, keyId }: Follower,
  following: Following,
  send: Send,
): Promise<Place | undefined> {
  await send({ type: 'reset' });
  return deps.streams.inTurn(tenant, following.signal, () =>
    inSnapshot(deps.db, async (tx) => {
      assertKeyStillWorks((await findWorkingKeys(tx, [keyId])).get(keyId));
      const newest = await findNewestPlace(tx, tenant);
      const until = performance.now() + SNAPSHOT_MS_MAX;
      for await (const item of readSnapshot(tx, tenant, following)) {
        if (following.signal.aborted) break;
        await inTime(send(item), until - performance.now());
      }
      return newest;
    }),
  );
}

async function* readSnapshot(
  tx: Tx,
  tenant: TenantId,
  { room, only }: EventFilter,
): AsyncGenerator<StreamItem> {
  const limit = PAGE_SIZE;
  if (!only) {
    const rooms = pages((last?: Room) => findLiveRooms(tx, tenant, { room, after: last?.name, limit }));
    for await (const subject of rooms) yield { type: 'snapshot', of: 'room', subject };
  }
  const present = pages((last?: Participant) =>
    findPresentParticipants(tx, tenant, { room, after: last, limit }),
  );
  for await (const subject of present) yield { type: 'snapshot', of: 'participant', subject };
  if (!only) {
    const waiting = pages((last?: Watchdog) =>
      listWaitingWatchdogs(tx, tenant, { room, after: last?.id, limit }),
    );
    for await (const subject of waiting) yield { type: 'snapshot', of: 'watchdog', subject };
  }
}

/** Everything that `select` finds, a page at a time; it is given the last one of the page before. */
async function* pages<Row>(select: (last?: Row) => Promise<Row[]>): AsyncGenerator<Row> {
  let page = await select();
  while (page.length > 0) {
    yield* page;
    page = page.length < PAGE_SIZE ? [] : await select(page.at(-1));
  }
}

/** A reader may take one item and never another: nobody else may have to wait for that. */
async function inTime(sending: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tooSlow = new Failure('too_many_streams', { message: 'the snapshot was not read in time' });
    timer = setTimeout(() => reject(tooSlow), Math.max(0, ms));
  });
  await Promise.race([sending, late]).finally(() => clearTimeout(timer));
}
