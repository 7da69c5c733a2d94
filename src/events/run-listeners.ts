/**
 * Runs the turns of listeners: one tenant's next events, in one transaction with the cursor.
 *
 * Any number of processes do this at once; `for update skip locked` gives each turn to one of them. Each
 * listener has its own loop, so that a slow one does not delay the others.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { inTransaction } from '../base/db/transaction.ts';
import type { BaseDeps } from '../base/deps.ts';
import { renderTenantId, type TenantId } from '../base/tenants/tenant.ts';
import { retryAfterSeconds } from '../base/tenants/turn-backoff.ts';
import type { Listener } from './listener.ts';
import type { ListenerMetrics } from './listener-metrics.ts';
import { findTurns, finishTurn, listLags, listNextEvents, lockCursor, noteFailure } from './turns.sql.ts';

const EVENTS_AT_ONCE = 500;
const TURNS_AT_ONCE = 200;
/** Concurrent transactions of one listener. */
const LANES = 2;

/** The pause batches events that come in quick succession. */
const PAUSE_MS = 50;

/**
 * What no wake-up told of is found within a second: events that another process has numbered, and turns to repeat. It is a
 * little less, because a timer of a second may be early.
 */
const LOOK_AT_ALL_MS = 900;

/**
 * The turns of one listener in this process.
 *
 * A look at all tenants asks every server of a distributed database. So a wake-up looks at the tenants that it names.
 */
export class ListenerTurns<Deps extends BaseDeps> {
  readonly #deps: Deps;
  readonly #listener: Listener<Deps>;
  readonly #woken = new Set<TenantId>();
  /** When all tenants were looked at, in ms of `performance.now()`. */
  #lookedAtAll = Number.NEGATIVE_INFINITY;

  constructor(deps: Deps, listener: Listener<Deps>) {
    this.#deps = deps;
    this.#listener = listener;
  }

  get name(): string {
    return this.#listener.name;
  }

  /** These tenants have new events. */
  wake(tenants: readonly TenantId[]): void {
    for (const tenant of tenants) this.#woken.add(tenant);
  }

  /** Take the turns that wait now, then pause. Call it at least every second. */
  async take(): Promise<void> {
    const woken = [...this.#woken];
    this.#woken.clear();
    const begun = performance.now();
    if (begun - this.#lookedAtAll >= LOOK_AT_ALL_MS) {
      this.#lookedAtAll = begun;
      await takeTurns(this.#deps, this.#listener);
    } else if (woken.length > 0) {
      await takeTurns(this.#deps, this.#listener, woken);
    }
    await sleep(PAUSE_MS);
  }
}

/** Take the turns that wait for this listener now, of all tenants or of these. */
export async function takeTurns<Deps extends BaseDeps>(
  deps: Deps,
  listener: Listener<Deps>,
  of?: readonly TenantId[],
): Promise<void> {
  for (;;) {
    const tenants = await findTurns(deps.db, listener.name, { limit: TURNS_AT_ONCE, of });
    const waiting = tenants.values();
    let taken = 0;
    const lane = async () => {
      for (const tenant of waiting) if (await takeTurn(deps, listener, tenant)) taken += 1;
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    // Another process has the remaining turns, or the listener backs off from them.
    if (taken === 0) return;
  }
}

/** Returns whether the cursor has moved. */
async function takeTurn<Deps extends BaseDeps>(
  deps: Deps,
  listener: Listener<Deps>,
  tenant: TenantId,
): Promise<boolean> {
  const { name } = listener;
  try {
    return await inTransaction(deps.db, async (tx) => {
      const after = await lockCursor(tx, name, tenant);
      if (after === undefined) return false;
      const { events, reached } = await listNextEvents(tx, listener, tenant, {
        after,
        limit: EVENTS_AT_ONCE,
      });
      if (events.length > 0) await listener.handle(tx, tenant, events, deps);
      await finishTurn(tx, name, tenant, reached);
      return reached > after;
    });
  } catch (error) {
    const failures = await noteFailure(deps.db, name, tenant, retryAfterSeconds);
    deps.log.error(
      { err: error, listener: name, tenant: renderTenantId(tenant), failures },
      'a listener failed; it gets the same events again',
    );
    return false;
  }
}

/** Export the lag of each listener. */
export async function measureLags({
  db,
  metrics,
}: Pick<BaseDeps, 'db'> & { readonly metrics: ListenerMetrics }): Promise<void> {
  for (const { listener, events, seconds } of await listLags(db)) {
    metrics.listenerLagEvents.set({ listener }, events);
    metrics.listenerLagSeconds.set({ listener }, seconds);
  }
}
