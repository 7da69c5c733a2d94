/**
 * Batches that wait for their transaction.
 *
 * A transaction costs about as much for one small batch as for fifty, most of it in the commit. So
 * what arrives while this process is busy committing goes into the next transaction together; what
 * arrives while it is idle goes at once, and alone. Nobody is answered before the commit of his own
 * records, and nobody waits for company.
 *
 * Whatever is wrong with one batch stays with it: a transaction that the database refuses is done
 * again batch by batch, and an account that somebody else has locked is waited for apart.
 *
 * Nobody waits for ever, though the database may hang: whoever waits too long is told so, and what he
 * reported is let go unless its transaction has begun. He will report it again.
 */
import { isRefusal } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Batch, ChargeOutcome, Outcomes } from './bill.ts';

export interface Charging {
  /** Leaves batches without an outcome whose accounts somebody else has locked. */
  free(batches: readonly Batch[]): Promise<Outcomes>;
  /** Waits for the lock, and leaves nothing out. */
  tenant(tenant: TenantId, batches: readonly Batch[]): Promise<Outcomes>;
}

export interface QueueLimits {
  /** Transactions at a time. More than one keeps PostgreSQL busy while a commit reaches the disk. */
  readonly transactions: number;
  /** Records in a transaction that serves several batches. One batch alone may hold more. */
  readonly records: number;
}

export const LIMITS: QueueLimits = { transactions: 3, records: 2_000 };

/** From the report of a batch to its commit. Longer than a lock is waited for (`base/db/pool.ts`). */
const WAIT_MS_MAX = 10_000;

interface Waiting {
  readonly batch: Batch;
  /** Its caller has been told that it took too long. */
  isGivenUp: boolean;
  readonly resolve: (outcome: ChargeOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export class ChargeQueue {
  readonly #charging: Charging;
  readonly #limits: QueueLimits;
  #waiting: Waiting[] = [];
  /** Tenants with a transaction under way; another one would only wait for the first. */
  readonly #busy = new Set<TenantId>();
  #running = 0;

  constructor(charging: Charging, limits: QueueLimits = LIMITS) {
    this.#charging = charging;
    this.#limits = limits;
  }

  /** The outcome of `batch`, once it is committed. */
  charge(batch: Batch): Promise<ChargeOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<ChargeOutcome>();
    const item = { batch, resolve, reject, isGivenUp: false };
    const timer = setTimeout(() => {
      item.isGivenUp = true;
      reject(new Error('charging a batch took too long'));
    }, WAIT_MS_MAX);
    this.#waiting.push(item);
    this.#start();
    return promise.finally(() => clearTimeout(timer));
  }

  #start(): void {
    while (this.#running < this.#limits.transactions) {
      const group = this.#take();
      if (group.length === 0) return;
      this.#running += 1;
      void this.#run(group);
    }
  }

  /** The oldest batches whose tenants are free, as many as go together. */
  #take(): Waiting[] {
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    let records = 0;
    for (const item of this.#waiting) {
      const { tenant, records: own } = item.batch;
      const fits = taken.length === 0 || records + own.length <= this.#limits.records;
      if (fits && !this.#busy.has(tenant)) {
        taken.push(item);
        records += own.length;
      } else {
        left.push(item);
      }
    }
    for (const { batch } of taken) this.#busy.add(batch.tenant);
    this.#waiting = left;
    return taken;
  }

  async #run(group: readonly Waiting[]): Promise<void> {
    const locked = await this.#charge(group, (batches) => this.#charging.free(batches));
    const byTenant = Map.groupBy(locked, (item) => item.batch.tenant);
    for (const [tenant, items] of byTenant) void this.#waitFor(tenant, items);
    for (const { batch } of group) if (!byTenant.has(batch.tenant)) this.#busy.delete(batch.tenant);
    this.#running -= 1;
    this.#start();
  }

  /** Beside the transactions that are counted, so that whoever holds the lock holds up nobody else. */
  async #waitFor(tenant: TenantId, items: readonly Waiting[]): Promise<void> {
    await this.#charge(items, (batches) => this.#charging.tenant(tenant, batches));
    this.#busy.delete(tenant);
    this.#start();
  }

  /** Charge and answer. Returns those that were left out. */
  async #charge(
    waiting: readonly Waiting[],
    charge: (batches: readonly Batch[]) => Promise<Outcomes>,
  ): Promise<Waiting[]> {
    const items = waiting.filter((item) => !item.isGivenUp);
    if (items.length === 0) return [];
    try {
      const outcomes = await charge(items.map((item) => item.batch));
      return items.filter((item) => !answer(item, outcomes));
    } catch (error) {
      if (items.length === 1 || !isRefusal(error)) {
        for (const { reject } of items) reject(error);
        return [];
      }
    }
    const left: Waiting[] = [];
    for (const item of items) left.push(...(await this.#charge([item], charge)));
    return left;
  }
}

/** Returns whether there was an outcome to answer with. */
function answer({ batch, resolve }: Waiting, outcomes: Outcomes): boolean {
  const outcome = outcomes.get(batch);
  if (outcome) resolve(outcome);
  return outcome !== undefined;
}
