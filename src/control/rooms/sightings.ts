/**
 * What usage records say about participants: when they were last seen, and in which tier.
 *
 * Charging does not wait for sightings. The newest sighting of each participant is kept in memory and written
 * every second; excess sightings are dropped. No single sighting matters, because relays report present
 * participants again half a minute later. Sightings append no events.
 */
import type { Db } from '../../base/db/pool.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Tier } from '../../money/pricing/role.ts';
import { findTenantsWithPresent, markSeen, type Sighting } from './sightings.sql.ts';

const SIGHTINGS_MAX = 20_000;
/** Renewals of these participants wait for the statement. */
const WRITTEN_AT_ONCE = 1_000;

/** Usage records, one per row. */
export interface Seen {
  readonly length: number;
  room(row: number): string | undefined;
  participant(row: number): string | undefined;
  tier(row: number): Tier;
}

export class Sightings {
  readonly #db: Db;
  readonly #dropped: Metrics['sightingsDropped'];
  /** Tenants with participants present, as of a few seconds ago. */
  #tenants: ReadonlySet<TenantId> = new Set();
  #unwritten = new Map<string, Sighting>();

  constructor(db: Db, dropped: Metrics['sightingsDropped']) {
    this.#db = db;
    this.#dropped = dropped;
  }

  /** For a tenant without participants, this costs one look-up. */
  note(tenant: TenantId, records: Seen): void {
    if (!this.#tenants.has(tenant)) return;
    const prefix = `${tenant}\0`;
    let dropped = 0;
    for (let row = 0; row < records.length; row += 1) {
      const room = records.room(row);
      const username = records.participant(row);
      if (room === undefined || username === undefined) continue;
      const key = `${prefix}${room}\0${username}`;
      if (this.#unwritten.size < SIGHTINGS_MAX || this.#unwritten.has(key)) {
        this.#unwritten.set(key, { tenant, room, username, tier: records.tier(row) });
      } else {
        dropped += 1;
      }
    }
    if (dropped > 0) this.#dropped.inc(dropped);
  }

  async write(): Promise<void> {
    const sightings = [...this.#unwritten.values()];
    this.#unwritten = new Map();
    for (let at = 0; at < sightings.length; at += WRITTEN_AT_ONCE) {
      await markSeen(this.#db, sightings.slice(at, at + WRITTEN_AT_ONCE));
    }
  }

  async refreshTenants(): Promise<void> {
    this.#tenants = new Set(await findTenantsWithPresent(this.#db));
  }
}
