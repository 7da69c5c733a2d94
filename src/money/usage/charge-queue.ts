/**
 * Batches that wait for their transaction.
 *
 * A transaction costs about as much for one small batch as for fifty, mostly in the commit. So batches
 * that arrive during a commit share the next transaction; a batch that arrives at an idle queue goes at
 * once, alone. Each request is answered only after its own commit. An idle queue never waits to fill a
 * batch.
 *
 * A fault in one batch affects no other: if the database refuses a transaction, its batches are repeated
 * one by one. The batches of a locked account wait for the lock separately.
 *
 * A batch that is not committed within WAIT_MS_MAX fails, even if the database hangs. If its transaction
 * has not started it is dropped; the relay retries.
 */
import { isRefusal } from '../../base/db/transaction.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { BalanceOutOfRangeError } from '../ledger/balance-range.ts';
import type { Batch, ChargeOutcome, Outcomes } from './bill.ts';

export interface Charging {
  /** Returns no outcome for batches whose accounts are locked. */
  free(batches: readonly Batch[]): Promise<Outcomes>;
  /** Waits for the lock, and returns every outcome. */
  tenant(tenant: TenantId, batches: readonly Batch[]): Promise<Outcomes>;
}

export interface QueueLimits {
  /** Concurrent transactions. More than one keeps PostgreSQL busy while a commit reaches the disk. */
  readonly transactions: number;
  /** Records in a transaction of several batches. A single batch may hold more. */
  readonly records: number;
}

export const LIMITS: QueueLimits = { transactions: 3, records: 2_000 };

/** From the report of a batch to its commit. Longer than the lock timeout (`base/db/pool.ts`). */
const WAIT_MS_MAX = 10_000;

interface Waiting {
  readonly batch: Batch;
  /** Its caller has been answered with an error. */
  hasTimedOut: boolean;
  readonly resolve: (outcome: ChargeOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export class ChargeQueue {
  readonly #charging: Charging;
  readonly #limits: QueueLimits;
  #waiting: Waiting[] = [];
  /** Tenants with a running transaction; another one would only wait for the first. */
  readonly #busy = new Set<TenantId>();
  #running = 0;

  constructor(charging: Charging, limits: QueueLimits = LIMITS) {
    this.#charging = charging;
    this.#limits = limits;
  }

  /** The outcome of `batch`, once it is committed. */
  charge(batch: Batch): Promise<ChargeOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<ChargeOutcome>();
    const item = { batch, resolve, reject, hasTimedOut: false };
    const timer = setTimeout(() => {
      item.hasTimedOut = true;
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

  /** Take the oldest batches whose tenants are free, as many as fit one transaction. */
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

  /** Not counted against the limit, so that a locked account delays no other tenant. */
  async #waitFor(tenant: TenantId, items: readonly Waiting[]): Promise<void> {
    await this.#charge(items, (batches) => this.#charging.tenant(tenant, batches));
    this.#busy.delete(tenant);
    this.#start();
  }

  /** Charge and answer. Returns the batches without an outcome. */
  async #charge(
    waiting: readonly Waiting[],
    charge: (batches: readonly Batch[]) => Promise<Outcomes>,
  ): Promise<Waiting[]> {
    const items = waiting.filter((item) => !item.hasTimedOut);
    if (items.length === 0) return [];
    try {
      const outcomes = await charge(items.map((item) => item.batch));
      return items.filter((item) => !answer(item, outcomes));
    } catch (error) {
      if (items.length === 1 || !mayConcernOneBatch(error)) {
        for (const { reject } of items) reject(error);
        return [];
      }
    }
    const left: Waiting[] = [];
    for (const item of items) left.push(...(await this.#charge([item], charge)));
    return left;
  }
}

/** Nothing was stored, and the other batches may go without the one at fault. */
function mayConcernOneBatch(error: unknown): boolean {
  return isRefusal(error) || error instanceof BalanceOutOfRangeError;
}

/** Returns whether there was an outcome to answer with. */
function answer({ batch, resolve }: Waiting, outcomes: Outcomes): boolean {
  const outcome = outcomes.get(batch);
  if (outcome) resolve(outcome);
  return outcome !== undefined;
}
