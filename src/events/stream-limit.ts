/** How many streams may be followed in this process, and how many of them may read a snapshot at once. */
import { Failure } from '../failure.ts';
import type { TenantId } from '../tenants/tenant.ts';

const STREAMS_PER_TENANT_MAX = 100;
const STREAMS_MAX = 1_000;
/** Each keeps a database connection for as long as its reader takes. */
const SNAPSHOTS_AT_ONCE = 2;
const SNAPSHOT_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;

export class StreamLimit {
  readonly #perTenant = new Map<TenantId, number>();
  #total = 0;
  #snapshots = 0;
  readonly #waiting: (() => void)[] = [];

  /** Count one stream until the result is called. Throws `too_many_streams` beyond the limits. */
  enter(tenant: TenantId): () => void {
    const count = this.#perTenant.get(tenant) ?? 0;
    if (count >= STREAMS_PER_TENANT_MAX || this.#total >= STREAMS_MAX) throw tooMany();
    this.#perTenant.set(tenant, count + 1);
    this.#total += 1;
    return () => this.#leave(tenant);
  }

  /** Run `read` when it is its turn. Throws `too_many_streams` where that takes too long. */
  async inTurn<T>(read: () => Promise<T>): Promise<T> {
    if (this.#snapshots < SNAPSHOTS_AT_ONCE) this.#snapshots += 1;
    else await this.#turn();
    try {
      return await read();
    } finally {
      // A turn is handed on, so that nobody comes in between.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#snapshots -= 1;
    }
  }

  #turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(next), 1);
        reject(tooMany());
      }, SNAPSHOT_WAIT_MS);
      this.#waiting.push(next);
    });
  }

  #leave(tenant: TenantId): void {
    const count = this.#perTenant.get(tenant)! - 1;
    if (count > 0) this.#perTenant.set(tenant, count);
    else this.#perTenant.delete(tenant);
    this.#total -= 1;
  }
}

function tooMany(): Failure {
  return new Failure('too_many_streams', { retryAfter: RETRY_AFTER_SECONDS });
}
