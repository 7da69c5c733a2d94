/** Read a page of the tenant's events, and wait if there is none yet. */

import { assertKeyStillWorks } from '../../access/keys/assert-key-still-works.ts';
import { invalidField } from '../../base/failure.ts';
import type { Follower, StreamDeps } from '../../control/streams/follow-events.ts';
import type { LoggedEvent } from '../../events/event.ts';
import { numberEvents } from '../../events/number-events.ts';
import { wantedTypes } from './event-catalogue.ts';
import { listPublicEvents, type PublicEventPage } from './public-events.sql.ts';

export const PULLED_EVENTS_MAX = 1_000;
export const PULLED_EVENTS_USUAL = 100;
export const PULL_WAIT_SECONDS_MAX = 20;

/** Events of some types may be far apart, so a search ends after this time, wherever it is. */
const SEARCH_MS_MAX = 5_000;

export interface PullRequest {
  /** Where the page before ended; `undefined`: begin with the oldest event that is kept. */
  readonly after: bigint | undefined;
  /** None: all. */
  readonly types: readonly string[];
  readonly limit: number;
  readonly waitMs: number;
  /** Aborted when the client no longer waits. */
  readonly signal: AbortSignal;
}

export interface PulledEvents {
  readonly events: readonly LoggedEvent[];
  /** `after` of the next request. */
  readonly after: bigint;
  /** Whether the log goes on after that now. */
  readonly more: boolean;
}

/**
 * Fails with `invalid_request` if events after `after` are no longer kept, or if `after` is not in the log; with
 * `too_many_streams` if the tenant waits too often at once; and, after a wait, as `assertKeyStillWorks()`.
 */
export async function pullEvents(
  deps: StreamDeps,
  follower: Follower,
  { after, types, limit, waitMs, signal }: PullRequest,
): Promise<PulledEvents> {
  const { tenant, keyId } = follower;
  const begun = performance.now();
  // A call that waits for events holds no place among the calls that run.
  const read = <T>(work: () => Promise<T>) => deps.calls.run(follower, work);
  const wanted = wantedTypes(types);
  let isLater = false;
  let from = after;
  await read(() => numberEvents(deps.db, [tenant]));
  for (;;) {
    const page = await read(() =>
      listPublicEvents(deps.db, tenant, { after: from ?? 0n, types: wanted, limit }),
    );
    if (from === undefined) {
      from = page.keptAfter;
      if (from > 0n) continue;
    }
    refuseUnknownPlace(from, page);
    const more = page.reached < page.lastSeq;
    const leftMs = begun + (more ? Math.max(waitMs, SEARCH_MS_MAX) : waitMs) - performance.now();
    if (page.events.length > 0 || signal.aborted || leftMs <= 0) {
      // Checked after the read, so that no event is returned that happened after the key stopped working.
      if (isLater) assertKeyStillWorks(await deps.keyLookups.find(keyId));
      return { events: page.events, after: page.reached, more };
    }
    from = page.reached;
    isLater = true;
    if (more) continue;
    const leave = deps.streams.enter(follower);
    await deps.events.wait(tenant, from, signal, leftMs).finally(leave);
  }
}

/** Fails with `invalid_request`. */
export function refuseUnknownPlace(after: bigint, { keptAfter, lastSeq }: PublicEventPage): void {
  if (after > lastSeq) throw invalidField('after', `must be <= ${lastSeq}, the number of the newest event`);
  if (after < keptAfter) {
    throw invalidField(
      'after',
      `must be >= ${keptAfter}: older events are no longer kept; leave it out to begin there`,
    );
  }
}
