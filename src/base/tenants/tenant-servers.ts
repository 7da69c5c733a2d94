/** Which server has a tenant, where tables are distributed. */
import type { Db } from '../db/pool.ts';
import type { TenantId } from './tenant.ts';

const KNOWN_MAX = 100_000;

/**
 * For limits by server, so that one that hangs does not keep the tenants of others waiting. A tenant that has moved since
 * is counted for its earlier server.
 */
export class TenantServers {
  readonly #db: Db;
  readonly #known = new Map<TenantId, number | undefined>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** `undefined` at first, until the coordinator has answered. */
  of(tenant: TenantId): number | undefined {
    if (!this.#known.has(tenant)) void this.#learn(tenant);
    return this.#known.get(tenant);
  }

  /** The coordinator knows it by itself. If it does not answer, the next call asks again. */
  async #learn(tenant: TenantId): Promise<void> {
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(tenant, undefined);
    try {
      const { rows } = await this.#db.query<{ server: number }>({
        name: 'server-of-tenant',
        text: `select groupid as server from pg_dist_placement
                where shardid = get_shard_id_for_distribution_column('tenant_places', $1::bigint)`,
        values: [tenant],
      });
      this.#known.set(tenant, rows[0]?.server);
    } catch {
      this.#known.delete(tenant);
    }
  }
}
