/**
 * Limits the records of each tenant that never paid, counted across all processes: each record is kept for ever, and
 * anyone can sign up. A paying tenant has no such limit.
 */
import type { Pool } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { RateLimit } from '../../base/limits/rate-limit.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { UsageRecords } from '../records/usage-records.ts';

/** Repeated ones count. */
export const UNPAID_RECORDS_PER_DAY = 1_000_000;
/** A record counts once for each so many bytes of its request: long texts are kept for ever, too. */
const BYTES_OF_RECORD = 512;

const DAY_SECONDS = 86_400;
/** So many tenants beyond the limit are remembered before those whose days have ended are looked for. */
const REMEMBERED_MAX = 1_000;
/** The tenant may have paid by then. */
const RETRY_AFTER_SECONDS = 60;

export class UnpaidRecords {
  readonly #max: number;
  readonly #limit: RateLimit;
  /** When the days of tenants beyond the limit end, in ms of `performance.now()`: no statement is spent on them. */
  readonly #endsAt = new Map<TenantId, number>();
  #rememberedMax = REMEMBERED_MAX;

  constructor(db: Pool, max = UNPAID_RECORDS_PER_DAY) {
    this.#max = max;
    this.#limit = new RateLimit(db, { name: 'unpaid_records', seconds: DAY_SECONDS });
  }

  /** Tenants beyond the limit. */
  get remembered(): number {
    return this.#endsAt.size;
  }

  /** Count the records of a batch. Throws `too_many_requests` beyond the limit of a day, which begins with its first batch. */
  async count(tenant: TenantId, { length, bytes }: UsageRecords): Promise<void> {
    const records = Math.max(length, Math.floor(bytes.length / BYTES_OF_RECORD));
    if (length === 0) return;
    const endsAt = this.#endsAt.get(tenant);
    if (endsAt !== undefined && performance.now() < endsAt) throw this.#beyond();
    this.#endsAt.delete(tenant);
    const waitMs = await this.#limit.count(renderTenantId(tenant), this.#max, records);
    if (waitMs === undefined) return;
    this.#remember(tenant, waitMs);
    throw this.#beyond();
  }

  #remember(tenant: TenantId, waitMs: number): void {
    const now = performance.now();
    this.#endsAt.set(tenant, now + waitMs);
    if (this.#endsAt.size <= this.#rememberedMax) return;
    for (const [each, endsAt] of this.#endsAt) if (endsAt <= now) this.#endsAt.delete(each);
    // So that looking through them costs little for each tenant.
    this.#rememberedMax = Math.max(REMEMBERED_MAX, 2 * this.#endsAt.size);
  }

  #beyond(): Failure {
    return new Failure('too_many_requests', {
      message: `limit reached: at most ${this.#max} usage records a day before the first payment`,
      metadata: { limit: 'unpaid_records_per_day', max: String(this.#max) },
      retryAfter: RETRY_AFTER_SECONDS,
    });
  }
}
