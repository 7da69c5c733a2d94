/**
 * When and from where keys and device credentials were last used, and how often keys were, hour by hour.
 *
 * A request only counts in memory, and waits for nothing. What is new is written every few seconds, and then once a minute
 * for each key and process; what a process that dies has not written is lost. Nothing is decided by it.
 */
import type { Pool } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LastUse, UsedKind } from './key-use.ts';
import { addKeyUses, upsertUses } from './last-uses.sql.ts';

/** How often what is due is written. */
export const USES_WRITTEN_SECONDS = 10;

/** How often the uses of one key are written. */
const WRITTEN_EVERY_MS = 60_000;
/** Keys used in a minute. Uses of further keys are not noted. */
const NOTED_MAX = 50_000;
const WRITTEN_AT_ONCE = 1_000;

interface Noted {
  readonly tenant: TenantId;
  readonly kind: UsedKind;
  readonly id: string;
  /** By `performance.now()`. */
  at: number;
  address: LastUse['address'];
  /** Those that are not written yet. */
  uses: number;
  /** When they are written, by `performance.now()`. */
  dueAt: number;
}

export class LastUses {
  readonly #db: Pool;
  readonly #now: () => number;
  /** By kind and id. */
  readonly #noted = new Map<string, Noted>();

  constructor(db: Pool, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#now = now;
  }

  /** Call these for a secret that was verified, so that wrong ones need no memory. */
  noteKey(tenant: TenantId, id: string, address: string): void {
    this.#note(id, { tenant, kind: 'key', id, address });
  }

  /** Without its address, which is that of a person. */
  noteDevice(tenant: TenantId, id: string): void {
    this.#note(`device ${id}`, { tenant, kind: 'device', id, address: null });
  }

  #note(name: string, use: Pick<Noted, 'tenant' | 'kind' | 'id' | 'address'>): void {
    const noted = this.#noted.get(name);
    const at = this.#now();
    if (noted) {
      noted.at = at;
      noted.address = use.address;
      noted.uses += 1;
    } else if (this.#noted.size < NOTED_MAX) {
      this.#noted.set(name, { ...use, at, uses: 1, dueAt: at });
    }
  }

  /** Write what is due. If it fails, those uses are lost. */
  async write(): Promise<void> {
    const due = this.#takeDue();
    for (let from = 0; from < due.length; from += WRITTEN_AT_ONCE) {
      const now = this.#now();
      const uses = due
        .slice(from, from + WRITTEN_AT_ONCE)
        .map(({ at, ...use }) => ({ ...use, secondsAgo: (now - at) / 1000 }));
      await upsertUses(this.#db, uses);
      await addKeyUses(
        this.#db,
        uses.filter(({ kind }) => kind === 'key'),
      );
    }
  }

  /** Forgets keys that were not used for a minute. */
  #takeDue(): Readonly<Noted>[] {
    const now = this.#now();
    const due: Readonly<Noted>[] = [];
    for (const [name, noted] of this.#noted) {
      if (noted.dueAt > now) continue;
      if (noted.uses === 0) {
        this.#noted.delete(name);
        continue;
      }
      due.push({ ...noted });
      noted.uses = 0;
      noted.dueAt = now + WRITTEN_EVERY_MS;
    }
    return due;
  }
}
