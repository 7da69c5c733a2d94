/**
 * Listeners: they react to events after the commit.
 *
 * An operation appends its events and knows no listener. A listener has its own cursor for each tenant, so
 * a slow or failing listener delays no operation and no other listener.
 */
import type { Tx } from '../base/db/pool.ts';
import type { BaseDeps } from '../base/deps.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import type { LoggedEvent } from './event.ts';

/** `Deps`: what it logs and counts with. */
export interface Listener<Deps = BaseDeps> {
  /** Its cursors are stored under this name, which must never change. */
  readonly name: string;
  /** The types of events that it handles. */
  readonly types: readonly string[];
  /**
   * Handle the next events of one tenant, in order. The same transaction moves the cursor; if it fails,
   * the same events come again. `deps` is for logs and metrics: what it does belongs into the transaction.
   */
  handle(tx: Tx, tenant: TenantId, events: readonly LoggedEvent[], deps: Deps): Promise<void>;
}
