/**
 * What usage records tell of participants: that they were seen, and in which tier.
 *
 * Charging does not wait for it. What records tell is kept in memory, the newest of each participant,
 * and written every second; what is too much is dropped. Nothing depends on any one sighting, as a relay
 * reports whoever is still there again half a minute later. No event tells of them.
 */
import type { Db } from '../../base/db/pool.ts';
import type { Metrics } from '../../base/telemetry/metrics.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Tier } from '../../money/pricing/role.ts';
import { findTenantsWithPresent, markSeen, type Sighting } from './sightings.sql.ts';

const SIGHTINGS_MAX = 20_000;
/** Renewals of those who are written wait for the end of the statement. */
const WRITTEN_AT_ONCE = 1_000;

/** What usage records say about participants, a row a record. */
export interface Seen {
  readonly length: number;
  room(row: number): string | undefined;
  participant(row: number): string | undefined;
  tier(row: number): Tier;
}

export class Sightings {
  readonly #db: Db;
  readonly #dropped: Metrics['sightingsDropped'];
  /** Tenants with somebody in their rooms, as of some seconds ago. */
  #tenants: ReadonlySet<TenantId> = new Set();
  #unwritten = new Map<string, Sighting>();

  constructor(db: Db, dropped: Metrics['sightingsDropped']) {
    this.#db = db;
    this.#dropped = dropped;
  }

  /** Of a tenant whose rooms are empty, or who has none here, this costs one look-up. */
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
