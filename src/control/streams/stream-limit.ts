/** Limits the streams of this process, and how many of them read a snapshot at once. */
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

const STREAMS_PER_TENANT_MAX = 100;
const STREAMS_MAX = 1_000;
/** Each holds a database connection until its client has read it. A tenant has one at a time. */
const SNAPSHOTS_AT_ONCE = 4;
const SNAPSHOT_WAIT_MS = 10_000;
const RETRY_AFTER_SECONDS = 5;

interface Waiting {
  readonly tenant: TenantId;
  readonly begin: () => void;
}

export class StreamLimit {
  readonly #perTenant = new Map<TenantId, number>();
  #total = 0;
  /** Tenants whose snapshots are being read. */
  readonly #reading = new Set<TenantId>();
  readonly #waiting: Waiting[] = [];

  /** Count one stream until the returned function is called. Throws `too_many_streams` beyond the limits. */
  enter(tenant: TenantId): () => void {
    const count = this.#perTenant.get(tenant) ?? 0;
    if (count >= STREAMS_PER_TENANT_MAX || this.#total >= STREAMS_MAX) throw tooMany();
    this.#perTenant.set(tenant, count + 1);
    this.#total += 1;
    return () => this.#leave(tenant);
  }

  /**
   * Run `read` when it is the tenant's turn; `undefined` if `signal` was aborted before that. Throws
   * `too_many_streams` if that takes too long.
   */
  async inTurn<T>(tenant: TenantId, signal: AbortSignal, read: () => Promise<T>): Promise<T | undefined> {
    if (this.#mayRead(tenant)) this.#reading.add(tenant);
    else if (!(await this.#turn(tenant, signal))) return undefined;
    try {
      return await read();
    } finally {
      this.#reading.delete(tenant);
      this.#handOn();
    }
  }

  #mayRead(tenant: TenantId): boolean {
    return this.#reading.size < SNAPSHOTS_AT_ONCE && !this.#reading.has(tenant);
  }

  /** Whether the tenant got a turn. */
  #turn(tenant: TenantId, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      const leave = () => {
        settle();
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      };
      const giveUp = () => {
        leave();
        resolve(false);
      };
      const waiting: Waiting = {
        tenant,
        begin: () => {
          settle();
          resolve(true);
        },
      };
      const timer = setTimeout(() => {
        leave();
        reject(tooMany());
      }, SNAPSHOT_WAIT_MS);
      signal.addEventListener('abort', giveUp);
      this.#waiting.push(waiting);
    });
  }

  /** Gives the turn at once, so that no new stream can take it first. */
  #handOn(): void {
    const at = this.#waiting.findIndex(({ tenant }) => this.#mayRead(tenant));
    if (at < 0) return;
    const [next] = this.#waiting.splice(at, 1);
    this.#reading.add(next!.tenant);
    next!.begin();
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
