/** Read a page of events, and wait for one where nothing has happened yet. */
import type { Deps } from '../deps.ts';
import type { TenantId } from '../tenants/tenant.ts';
import type { Event } from './event.ts';
import { findOldestPosition } from './events.sql.ts';
import { numberEvents } from './number-events.ts';
import { readEvents } from './read-events.ts';

export interface EventsRequest {
  /** The last event of the page before; `undefined`: begin with the oldest that is kept. */
  readonly after: bigint | undefined;
  readonly room: string | undefined;
  readonly limit: number;
  readonly waitMs: number;
  /** Given when nobody waits any more. */
  readonly signal: AbortSignal;
}

export interface EventsPage {
  /** Whether events after `after` are gone. It counts against the limit. */
  readonly isReset: boolean;
  readonly events: readonly Event[];
  readonly reached: bigint;
}

/** Fails for an `after` yet to come. */
export async function listEvents(
  deps: Deps,
  tenant: TenantId,
  { after, room, limit, waitMs, signal }: EventsRequest,
): Promise<EventsPage> {
  const until = performance.now() + waitMs;
  await numberEvents(deps.db, [tenant]);
  let reached = after ?? (await findOldestPosition(deps.db, tenant));
  let isReset = false;
  for (;;) {
    const page = await readEvents(deps.db, tenant, {
      after: reached,
      room,
      limit: isReset ? limit - 1 : limit,
    });
    if (!page.isKept) {
      isReset = after !== undefined;
      reached = await findOldestPosition(deps.db, tenant);
      continue;
    }
    reached = page.reached;
    const leftMs = until - performance.now();
    const isOver = signal.aborted || (reached === page.lastSeq && leftMs <= 0);
    if (isReset || page.events.length > 0 || isOver) return { isReset, events: page.events, reached };
    if (reached === page.lastSeq) await deps.events.wait(tenant, reached, signal, leftMs);
  }
}
