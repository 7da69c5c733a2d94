/**
 * When keys and device credentials were last used, to the minute.
 *
 * A request only notes its key in memory, once a minute for each key and process, and waits for nothing. The notes are
 * written together every few seconds; those of a process that dies are lost. Nothing is decided by them.
 */
import type { Pool } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type UsedKind, upsertUses } from './last-uses.sql.ts';

/** How often the notes are written. */
export const USES_WRITTEN_SECONDS = 10;

const NOTED_EVERY_MS = 60_000;
/** Keys noted in a minute. Uses of further keys are not noted. */
const NOTED_MAX = 50_000;
const WRITTEN_AT_ONCE = 1_000;

interface Noted {
  readonly tenant: TenantId;
  readonly kind: UsedKind;
  readonly id: string;
  /** By `performance.now()`. */
  readonly at: number;
}

export class LastUses {
  readonly #db: Pool;
  readonly #now: () => number;
  /** By kind and id, for a minute, the oldest first. */
  readonly #noted = new Map<string, Noted>();
  #unwritten: Noted[] = [];

  constructor(db: Pool, now: () => number = () => performance.now()) {
    this.#db = db;
    this.#now = now;
  }

  /** Call it for a key that was verified, so that wrong keys need no memory. */
  note(kind: UsedKind, tenant: TenantId, id: string): void {
    const name = kind === 'key' ? id : `device ${id}`;
    if (this.#noted.has(name) || this.#noted.size >= NOTED_MAX) return;
    const noted = { tenant, kind, id, at: this.#now() };
    this.#noted.set(name, noted);
    this.#unwritten.push(noted);
  }

  /** Write what was noted since the last time. If it fails, those notes are lost, and the next uses are noted. */
  async write(): Promise<void> {
    const unwritten = this.#unwritten;
    this.#unwritten = [];
    this.#forget();
    for (let from = 0; from < unwritten.length; from += WRITTEN_AT_ONCE) {
      const now = this.#now();
      const uses = unwritten
        .slice(from, from + WRITTEN_AT_ONCE)
        .map(({ at, ...use }) => ({ ...use, secondsAgo: (now - at) / 1000 }));
      await upsertUses(this.#db, uses);
    }
  }

  /** What was noted a minute ago may be noted again. */
  #forget(): void {
    const before = this.#now() - NOTED_EVERY_MS;
    for (const [name, { at }] of this.#noted) {
      if (at > before) return;
      this.#noted.delete(name);
    }
  }
}
