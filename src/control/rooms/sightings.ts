/**
 * What usage records say about participants: when they were last seen, and in which tier.
 *
 * Charging does not wait for sightings: records are kept unread. Every second, the database is asked which of
 * their tenants have participants, and the newest sighting of each participant is written. A tenant counts as
 * soon as its first participant has entered. Excess sightings are dropped. Sightings append no events.
 */
import type { Db } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Tier } from '../../money/pricing/role.ts';
import type { SightingMetrics } from './sighting-metrics.ts';
import { findOccupied, markSeen, type Sighting } from './sightings.sql.ts';

const SIGHTINGS_MAX = 20_000;
/** Beyond this, the database is asked at once. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;
/** Renewals of these participants wait for the statement. */
const WRITTEN_AT_ONCE = 1_000;

/** Usage records, one per row. */
export interface Seen {
  readonly length: number;
  /** The request that they keep in memory. */
  readonly bytes: { readonly length: number };
  room(row: number): string | undefined;
  participant(row: number): string | undefined;
  tier(row: number): Tier;
}

export class Sightings {
  readonly #db: Db;
  readonly #dropped: SightingMetrics['sightingsDropped'];
  #unread: { readonly tenant: TenantId; readonly records: Seen }[] = [];
  #unreadBytes = 0;
  #reading: Promise<void> | undefined;
  #unwritten = new Map<string, Sighting>();

  constructor(db: Db, dropped: SightingMetrics['sightingsDropped']) {
    this.#db = db;
    this.#dropped = dropped;
  }

  /** `records` must not change afterwards. */
  note(tenant: TenantId, records: Seen): void {
    // The records of a failed read are counted as dropped.
    if (this.#unreadBytes >= UNREAD_BYTES_MAX) this.#read().catch(() => {});
    if (this.#unreadBytes >= UNREAD_BYTES_MAX) {
      this.#dropped.inc(records.length);
      return;
    }
    this.#unread.push({ tenant, records });
    this.#unreadBytes += records.bytes.length;
  }

  async write(): Promise<void> {
    await this.#reading;
    await this.#read();
    const sightings = [...this.#unwritten.values()];
    this.#unwritten = new Map();
    for (let at = 0; at < sightings.length; at += WRITTEN_AT_ONCE) {
      await markSeen(this.#db, sightings.slice(at, at + WRITTEN_AT_ONCE));
    }
  }

  #keep(tenant: TenantId, records: Seen): void {
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

  /** Ask which tenants have participants, and keep the records of those. One call at a time. */
  #read(): Promise<void> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    if (this.#unread.length === 0) return;
    const unread = this.#unread;
    this.#unread = [];
    this.#unreadBytes = 0;
    try {
      const tenants = new Set(unread.map(({ tenant }) => tenant));
      const occupied = new Set(await findOccupied(this.#db, [...tenants]));
      for (const { tenant, records } of unread) if (occupied.has(tenant)) this.#keep(tenant, records);
    } catch (error) {
      for (const { records } of unread) this.#dropped.inc(records.length);
      throw error;
    }
  }
}
