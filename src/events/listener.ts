/**
 * Listeners: what reacts to events after they were committed.
 *
 * An operation appends its events and knows no listener. A listener has its own cursor for each tenant, so
 * one that fails or is slow delays no operation and no other listener.
 */
import type { Tx } from '../base/db/pool.ts';
import type { TenantId } from '../base/tenants/tenant.ts';
import type { LoggedEvent } from './event.ts';

export interface Listener {
  /** Its cursors are stored under this name: it never changes. */
  readonly name: string;
  /** The types of events that it wants. */
  readonly types: readonly string[];
  /**
   * Handle the next events of one tenant, in order. The transaction also moves the cursor: either both
   * are committed or neither, and then the same events come again.
   */
  handle(tx: Tx, tenant: TenantId, events: readonly LoggedEvent[]): Promise<void>;
}

const RETRY_SECONDS_MIN = 1;
const RETRY_SECONDS_MAX = 300;

/** How long a listener rests with a tenant after so many failed turns in a row: 1, 2, 4, ... seconds. */
export function retryAfterSeconds(failures: number): number {
  return Math.min(RETRY_SECONDS_MIN * 2 ** (failures - 1), RETRY_SECONDS_MAX);
}
