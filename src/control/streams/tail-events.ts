/**
 * Follow what happens in the rooms of a tenant, for a person who looks on.
 *
 * Unlike `followEvents()` there is no snapshot: the person has a page that was made at a place, and sees what
 * happened after it.
 */
import type { Pool } from '../../base/db/pool.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Place } from '../../events/event.ts';
import { findNewestPlace } from '../../events/events.sql.ts';
import { numberEvents } from '../../events/number-events.ts';
import type { StreamDeps } from './follow-events.ts';
import type { Event } from './stream-event.ts';
import { findRecentRoomEvents, listStreamEvents } from './stream-events.sql.ts';

const PAGE_SIZE = 200;
/** The longest silence, after which the right to look on is checked again. */
const SILENCE_MS = 5_000;

export interface RecentEvents {
  /** The newest first. */
  readonly events: readonly Event[];
  /** Everything up to here was looked at. */
  readonly place: Place;
}

/** The newest events of the rooms of a name, or of all rooms. */
export async function listRecentEvents(
  db: Pool,
  tenant: TenantId,
  { room, limit }: { readonly room: string | undefined; readonly limit: number },
): Promise<RecentEvents> {
  await numberEvents(db, [tenant]);
  const place = await findNewestPlace(db, tenant);
  return { events: await findRecentRoomEvents(db, tenant, { upTo: place.seq, room, limit }), place };
}

export interface Tailing {
  readonly after: Place;
  /** Only events of rooms of this name. */
  readonly room: string | undefined;
  /** Aborted when the reader has gone. */
  readonly signal: AbortSignal;
  /** Whether the person may still look on. Asked before anything is told. */
  readonly mayGoOn: () => Promise<boolean>;
}

export type Tail =
  | { readonly type: 'event'; readonly event: Event }
  /** Nothing new. */
  | { readonly type: 'silence' }
  /** Events are missing: the page must be made again. */
  | { readonly type: 'gap' }
  /** The person may not look on any more. It is the last item. */
  | { readonly type: 'over' };

/** Ends after `signal` was aborted, and after `over` or `gap`. Fails with `too_many_streams`. */
export async function* tailEvents(
  deps: Pick<StreamDeps, 'db' | 'events' | 'streams' | 'calls'>,
  caller: LimitedCaller,
  { after, room, signal, mayGoOn }: Tailing,
): AsyncGenerator<Tail> {
  const { tenant } = caller;
  const leave = deps.streams.enterPage(caller);
  try {
    let reached = after;
    yield { type: 'silence' };
    while (!signal.aborted) {
      const wanted = { after: reached, room, only: 'rooms', limit: PAGE_SIZE } as const;
      const page = await deps.calls.run(caller, () => listStreamEvents(deps.db, tenant, wanted));
      // Checked after the read, so that nothing is told that happened after the right was lost.
      if (!(await mayGoOn())) return yield { type: 'over' };
      if (!page.isKept) return yield { type: 'gap' };
      for (const event of page.events) yield { type: 'event', event };
      if (page.events.length === 0) yield { type: 'silence' };
      reached = page.reached;
      if (reached.seq < page.lastSeq) continue;
      await deps.events.wait(tenant, reached.seq, signal, SILENCE_MS);
    }
  } finally {
    leave();
  }
}
