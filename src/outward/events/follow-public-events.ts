/** Follow the tenant's events for as long as the reader stays: each once, in order, soon after it happened. */
import { assertKeyStillWorks } from '../../access/keys/assert-key-still-works.ts';
import type { Follower, StreamDeps } from '../../control/streams/follow-events.ts';
import { findNewestPlace } from '../../events/events.sql.ts';
import { numberEvents } from '../../events/number-events.ts';
import { wantedTypes } from './event-catalogue.ts';
import { listPublicEvents } from './public-events.sql.ts';
import { type PulledEvents, type PullRequest, refuseUnknownPlace } from './pull-events.ts';

/** A page is in memory until the reader has taken it. */
const PAGE_EVENTS = 100;
/** The longest silence. A reader that is gone is noticed by then, and so is a key that stopped working. */
const SILENCE_MS = 10_000;

export interface PublicFollowing extends Pick<PullRequest, 'types'> {
  /** Events after this number; `undefined`: those that happen from now on. */
  readonly after: bigint | undefined;
  /** Aborted when the reader is gone. */
  readonly signal: AbortSignal;
}

/**
 * Pages, until `signal` is aborted. The first one comes at once, others after silence; both may be empty.
 *
 * Fails as `pullEvents()`. It is one of the tenant's streams for all of its time.
 */
export async function* followPublicEvents(
  deps: StreamDeps,
  follower: Follower,
  { after, types, signal }: PublicFollowing,
): AsyncGenerator<Pick<PulledEvents, 'events' | 'after'>> {
  const { tenant, keyId } = follower;
  const wanted = { types: wantedTypes(types), limit: PAGE_EVENTS };
  const read = <T>(work: () => Promise<T>) => deps.calls.run(follower, work);
  const leave = deps.streams.enter(follower);
  try {
    await read(() => numberEvents(deps.db, [tenant]));
    let from = after ?? (await read(() => findNewestPlace(deps.db, tenant))).seq;
    while (!signal.aborted) {
      const place = from;
      const page = await read(() => listPublicEvents(deps.db, tenant, { ...wanted, after: place }));
      refuseUnknownPlace(place, page);
      // Checked after the read, so that no event is told that happened after the key stopped working.
      assertKeyStillWorks(await deps.keyLookups.find(keyId));
      yield { events: page.events, after: page.reached };
      from = page.reached;
      if (from >= page.lastSeq) await deps.events.wait(tenant, from, signal, SILENCE_MS);
    }
  } finally {
    leave();
  }
}
