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
import { type Listener, retryAfterSeconds } from './listener.ts';
import { findTurns, finishTurn, listLags, listNextEvents, lockCursor, noteFailure } from './turns.sql.ts';

const EVENTS_AT_ONCE = 500;
const TURNS_AT_ONCE = 200;
/** Concurrent transactions of one listener. */
const LANES = 2;

/** The pause batches events that come in quick succession. */
const PAUSE_MS = 50;

/** Take the turns that wait for this listener now, then pause. */
export async function listen(deps: BaseDeps, listener: Listener): Promise<void> {
  await takeTurns(deps, listener);
  await sleep(PAUSE_MS);
}

/** Take the turns that wait for this listener now. */
export async function takeTurns(deps: BaseDeps, listener: Listener): Promise<void> {
  for (;;) {
    const tenants = await findTurns(deps.db, listener.name, TURNS_AT_ONCE);
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
async function takeTurn(deps: BaseDeps, listener: Listener, tenant: TenantId): Promise<boolean> {
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
export async function measureLags({ db, metrics }: BaseDeps): Promise<void> {
  for (const { listener, events, seconds } of await listLags(db)) {
    metrics.listenerLagEvents.set({ listener }, events);
    metrics.listenerLagSeconds.set({ listener }, seconds);
  }
}
