/** Which server has a tenant, where tables are distributed. */
import { awayServers } from '../db/away-servers.ts';
import type { Db } from '../db/pool.ts';
import { serverAway } from '../failure.ts';
import { Lanes } from '../lib/lanes.ts';
import type { TenantId } from './tenant.ts';

const KNOWN_MAX = 100_000;

/** A number of the server that has the tenant; `undefined`: there is only one, or it is not known yet. */
export type ServerOf = (tenant: TenantId) => number | undefined;

/** How much may run at the same time for the tenants of a server. One finds out whether a server that is away answers. */
export function placesOnServer(server: number | undefined, max = Number.POSITIVE_INFINITY): number {
  if (server === undefined) return Number.POSITIVE_INFINITY;
  return awayServers().has(server) ? 1 : max;
}

/** Runs what needs a connection, with a limit for the tenants of each server. The rest waits, or fails at once while theirs is away. */
export class ServerLanes {
  readonly #serverOf: ServerOf;
  readonly #ofEach: number;
  readonly #lanes = new Map<number, Lanes>();

  constructor(serverOf: ServerOf, ofEach: number) {
    this.#serverOf = serverOf;
    this.#ofEach = ofEach;
  }

  async run<T>(tenant: TenantId, work: () => Promise<T>): Promise<T> {
    const server = this.#serverOf(tenant);
    if (server === undefined) return work();
    const lanes = this.#lanes.get(server) ?? new Lanes(this.#ofEach);
    this.#lanes.set(server, lanes);
    const hasNoPlace = (running: number) => running >= placesOnServer(server);
    if (hasNoPlace(lanes.running)) throw serverAway();
    return lanes.run(async () => {
      if (hasNoPlace(lanes.running - 1)) throw serverAway();
      return work();
    });
  }
}

interface Known {
  readonly server: number | undefined;
  /** The servers that were away when it was asked. */
  readonly away: ReadonlySet<number>;
}

/**
 * For limits by server, so that one that hangs does not keep the tenants of others waiting. A tenant that has moved since
 * is counted for its earlier server, until another one is away, or is back.
 */
export class TenantServers {
  readonly #db: Db;
  readonly #known = new Map<TenantId, Known>();

  constructor(db: Db) {
    this.#db = db;
  }

  /** `undefined` at first, until the coordinator has answered. */
  of(tenant: TenantId): number | undefined {
    const known = this.#known.get(tenant);
    if (known?.away !== awayServers()) void this.#learn(tenant, known?.server);
    return known?.server;
  }

  /** The coordinator knows it by itself. If it does not answer, the next call asks again. */
  async #learn(tenant: TenantId, before: number | undefined): Promise<void> {
    const away = awayServers();
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(tenant, { server: before, away });
    try {
      const { rows } = await this.#db.query<{ server: number }>({
        name: 'server-of-tenant',
        text: `select groupid as server from pg_dist_placement
                where shardid = get_shard_id_for_distribution_column('tenant_places', $1::bigint)`,
        values: [tenant],
      });
      this.#known.set(tenant, { server: rows[0]?.server, away });
    } catch {
      this.#known.delete(tenant);
    }
  }
}
