/** Read a page of events, and wait if there is none yet. */

import { assertKeyStillWorks } from '../../access/keys/assert-key-still-works.ts';
import type { Place } from '../../events/event.ts';
import { findOldestPlace } from '../../events/events.sql.ts';
import { numberEvents } from '../../events/number-events.ts';
import { getRoom } from '../rooms/get-room.ts';
import type { Follower, StreamDeps } from './follow-events.ts';
import type { Event } from './stream-event.ts';
import { listStreamEvents } from './stream-events.sql.ts';

/** Events of one room may be far apart, so a search ends after this time, wherever it is. */
const SEARCH_MS_MAX = 5_000;

export interface EventsRequest {
  /** Where the previous page ended; `undefined`: begin with the oldest event that is kept. */
  readonly after: Place | undefined;
  readonly room: string | undefined;
  readonly limit: number;
  readonly waitMs: number;
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
}

export interface EventsPage {
  /**
   * Whether events after `after` are gone, or `after` is not in this history. Counts as one event of the
   * limit.
   */
  readonly isReset: boolean;
  readonly events: readonly Event[];
  readonly reached: Place;
}

/** Fails with `not_found` if no room ever had the name, and, after a wait, as `assertKeyStillWorks()`. */
export async function listEvents(
  deps: StreamDeps,
  follower: Follower,
  { after, room, limit, waitMs, signal }: EventsRequest,
): Promise<EventsPage> {
  const begun = performance.now();
  const { tenant, keyId } = follower;
  // A call that waits for events holds no place among the calls that run.
  const read = <T>(work: () => Promise<T>) => deps.calls.run(follower, work);
  let reached = await read(async () => {
    if (room !== undefined) await getRoom(deps.db, tenant, { name: room, uid: undefined });
    await numberEvents(deps.db, [tenant]);
    return after ?? (await findOldestPlace(deps.db, tenant));
  });
  let isReset = false;
  let isLater = false;
  for (;;) {
    const wanted = { after: reached, room, limit: isReset ? limit - 1 : limit };
    const page = await read(() => listStreamEvents(deps.db, tenant, wanted));
    if (!page.isKept) {
      isReset = after !== undefined;
      reached = await read(() => findOldestPlace(deps.db, tenant));
      continue;
    }
    reached = page.reached;
    const isAtEnd = reached.seq === page.lastSeq;
    const leftMs = begun + (isAtEnd ? waitMs : Math.max(waitMs, SEARCH_MS_MAX)) - performance.now();
    if (isReset || page.events.length > 0 || signal.aborted || leftMs <= 0) {
      // Checked after the read, so that no event is returned that happened after the key stopped working.
      if (isLater) assertKeyStillWorks(await deps.keyLookups.find(keyId));
      return { isReset, events: page.events, reached };
    }
    if (isAtEnd) await deps.events.wait(tenant, reached.seq, signal, leftMs);
    isLater = true;
  }
}
