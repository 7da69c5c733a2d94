/** How many streams may be followed in this process, and how many of them may read a snapshot at once. */
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';

const STREAMS_PER_TENANT_MAX = 100;
const STREAMS_MAX = 1_000;
/** Each keeps a database connection for as long as its reader takes; of a tenant, there is one at a time. */
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
  /** Whose snapshots are being read. */
  readonly #reading = new Set<TenantId>();
  readonly #waiting: Waiting[] = [];

  /** Count one stream until the result is called. Throws `too_many_streams` beyond the limits. */
  enter(tenant: TenantId): () => void {
    const count = this.#perTenant.get(tenant) ?? 0;
    if (count >= STREAMS_PER_TENANT_MAX || this.#total >= STREAMS_MAX) throw tooMany();
    this.#perTenant.set(tenant, count + 1);
    this.#total += 1;
    return () => this.#leave(tenant);
  }

  /**
   * Run `read` when it is the tenant's turn; `undefined` where `signal` was aborted before that. Throws
   * `too_many_streams` where it takes too long.
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

  /** Whether a turn was given. */
  #turn(tenant: TenantId, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', goAway);
      };
      const leave = () => {
        settle();
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      };
      const goAway = () => {
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
      signal.addEventListener('abort', goAway);
      this.#waiting.push(waiting);
    });
  }

  /** The turn is given before anybody else can come in between. */
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
