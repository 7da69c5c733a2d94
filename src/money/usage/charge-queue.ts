/**
 * Batches that wait for their transaction.
 *
 * A transaction costs about as much for one small batch as for fifty, mostly in the commit. So batches
 * that arrive during a commit share the next transaction; a batch that arrives at an idle queue goes at
 * once, alone. Each request is answered only after its own commit. An idle queue never waits to fill a
 * batch. Another transaction of small batches begins only if the one before takes long.
 *
 * Tenants get equal shares: a batch waits behind the batches that its tenant sent before, not behind the
 * backlog of another tenant (start-time fair queueing, with the number of records as cost). Batches of tenants
 * that never paid go after all others and in transactions of their own, because anyone can sign up a thousand of them.
 * Large batches and small ones leave a transaction to each other, and so do the tenants of one server of several.
 *
 * A fault in one batch affects no other: if the database refuses a transaction, or it has to wait for a lock, its batches
 * are repeated one by one. The batches of a locked account go into a later transaction. If the lock lasts, they wait for it
 * separately, those of a few accounts at a time, so that locked accounts never hold all connections. Batches that repeat
 * archived records, which have to be read, are charged separately too, those of a few tenants at a time after reading.
 *
 * A batch that is not committed within WAIT_MS_MAX fails, even if the database hangs. If its transaction
 * has not started it is dropped; the relay retries. What could not be charged in that time is refused at once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockTimeout, isRefusal } from '../../base/db/transaction.ts';
import { Failure, serverAway } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { placesOnServer, type ServerOf } from '../../base/tenants/tenant-servers.ts';
import { BalanceOutOfRangeError } from '../ledger/balance-range.ts';
import { DamagedColumnError } from '../records/chunks/chunk.ts';
import type { Batch, ChargeOutcome, Outcomes, SharedOutcomes } from './bill.ts';
import { Places } from './places.ts';
import { type Kind, type Queued, type QueueOf, WaitingBatches } from './waiting-batches.ts';

/** Does work when there is a place for it. */
export type InPlace = <T>(work: () => Promise<T>) => Promise<T>;

export interface TenantCharging {
  /** Whether a caller still awaits an outcome. */
  readonly isAwaited: () => boolean;
  /** Where the transaction runs. What is read before holds no connection for long. */
  readonly inPlace: InPlace;
  /** Batches of the tenant that wait meanwhile. */
  readonly waiting: () => readonly Batch[];
}

export interface Charging {
  /** Returns no outcome for batches whose accounts are locked, or that repeat archived records. */
  free(batches: readonly Batch[]): Promise<SharedOutcomes>;
  /** Waits for the lock, and returns every outcome, or fails once no caller awaits one. */
  tenant(tenant: TenantId, batches: readonly Batch[], charging: TenantCharging): Promise<Outcomes>;
  /** Where there are several servers. */
  readonly serverOf?: ServerOf;
}

export interface QueueLimits {
  /** Concurrent transactions. More than one keeps PostgreSQL busy while a commit reaches the disk. */
  readonly transactions: number;
  /** How many of these may go to one server: so a server that hangs leaves some to the others. To one that is away goes one. */
  readonly ofOneServer: number;
  /** How many of these may have large batches, and how many small ones: so each kind leaves one to the other. */
  readonly ofOneKind: number;
  /**
   * For so long, a transaction of small batches is the only one of its kind, one of tenants that paid and one of those that never did:
   * what arrives meanwhile goes together in the next. One that takes longer, because it waits for a lock or the disk, holds the others
   * back no more; nor does one that is half full.
   */
  readonly aloneMs: number;
  /** Records in a transaction of several batches. A larger batch goes alone. */
  readonly records: number;
  /** Tenants in a transaction. */
  readonly tenants: number;
  /** Locked accounts that are waited for at the same time. Each wait holds a connection. Half are of tenants that paid. */
  readonly locked: number;
  /** Tenants that read archived records at the same time, before they are charged. A quarter are of tenants that never paid. */
  readonly reading: number;
  /** Tenants that have read them are charged so many at a time, each with a connection. Half are of tenants that paid. */
  readonly repeating: number;
  /** After so long, a transaction takes the batches of a locked account along again. */
  readonly retryMs: number;
  /** After so long, a locked account is waited for, or else tried again as seldom as this. */
  readonly patienceMs: number;
  /**
   * Records without an answer: what a fast database charges within WAIT_MS_MAX. A tenant may have half, and so may all
   * that never paid together. BYTES_OF_RECORD count as one, so they hold 256 MB at most.
   */
  readonly unanswered: number;
  /** Batches without an answer of a tenant that never paid. Those of tenants that paid are limited by their records alone. */
  readonly batchesOfNeverPaid: number;
  /** Those of all such tenants. */
  readonly batchesNeverPaid: number;
}

const LIMITS: QueueLimits = {
  transactions: 4,
  ofOneServer: Number.POSITIVE_INFINITY,
  ofOneKind: 3,
  aloneMs: 80,
  records: 2_000,
  tenants: Number.POSITIVE_INFINITY,
  locked: 3,
  reading: 64,
  repeating: 2,
  retryMs: 3,
  patienceMs: 50,
  unanswered: 1_000_000,
  batchesOfNeverPaid: 100,
  batchesNeverPaid: 1_000,
};

/**
 * Where tables are distributed: a transaction of several tenants would have to be prepared on each of their servers.
 * The coordinator waits for the workers most of the time, so more transactions are under way.
 */
export const DISTRIBUTED_LIMITS: Partial<QueueLimits> = {
  tenants: 1,
  transactions: 10,
  ofOneServer: 3,
  ofOneKind: 4,
  aloneMs: 0,
};

/** Those of a process that has so many connections. */
export function separateLimits(connections: number): Pick<QueueLimits, 'locked' | 'repeating'> {
  const places = Math.floor(connections * 0.2);
  return { locked: Math.max(1, places), repeating: Math.max(2, places) };
}

const NONE: Running = { large: 0, small: 0 };

/** So that many small batches do not wait either. */
const RECORDS_MIN = 50;
/** A common record takes fewer in its request. */
const BYTES_OF_RECORD = 256;

/** So many are kept before those that count no more are looked for. */
const SHARES_MAX = 1_000;

/** From the report of a batch to its commit. Longer than the lock timeout (`base/db/pool.ts`). */
const WAIT_MS_MAX = 10_000;

export const RETRY_AFTER_SECONDS = 2;

interface Waiting extends Queued {
  /** What it counts as, in records. */
  readonly weight: number;
  /** Its caller has been answered with an error. */
  hasTimedOut: boolean;
  /** When a transaction first left it out, in ms of `performance.now()`. */
  lockedSince?: number;
  readonly resolve: (outcome: ChargeOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Whether the tenant of a batch paid. */
type Standing = 'paid' | 'neverPaid';

/** The running transactions of one server. */
type Running = Record<Kind, number>;

/** What has no answer. */
interface Unanswered {
  records: number;
  batches: number;
}

interface Share extends Unanswered {
  /** The earliest start of the tenant's next batch, among those of its standing. */
  next: number;
  hasPaid: boolean;
}

export class ChargeQueue {
  readonly #charging: Charging;
  readonly #limits: QueueLimits;
  readonly #waiting: WaitingBatches<Waiting>;
  /** The latest start of a batch that was taken. */
  readonly #now = { paid: 0, neverPaid: 0 };
  #running = 0;
  /** At most half of the transactions are of tenants that never paid. */
  #runningNeverPaid = 0;
  readonly #runningOn = new Map<number | undefined, Running>();
  /** Transactions of few records that began less than `aloneMs` ago. */
  readonly #alone = { paid: 0, neverPaid: 0 };
  /** Accounts whose locks are waited for. */
  readonly #locked: Places;
  /** Tenants that read archived records. */
  readonly #reading: Places;
  /** Those that have read, and are charged. */
  readonly #charged: Places;
  /** The batches that repeat archived records and wait to be read. */
  readonly #repeating = new Map<TenantId, Waiting[]>();
  readonly #unanswered: Unanswered = { records: 0, batches: 0 };
  /** The part of tenants that never paid. */
  readonly #unansweredNeverPaid: Unanswered = { records: 0, batches: 0 };
  /** The shares of tenants with such batches, and those that had some. */
  readonly #shares = new Map<TenantId, Share>();
  #sharesMax = SHARES_MAX;

  constructor(charging: Charging, limits: Partial<QueueLimits> = {}) {
    this.#charging = charging;
    this.#limits = { ...LIMITS, ...limits };
    this.#waiting = new WaitingBatches((tenant) => charging.serverOf?.(tenant));
    const { locked, reading, repeating } = this.#limits;
    this.#locked = new Places(locked);
    this.#reading = new Places(reading, Math.max(1, reading >> 2));
    this.#charged = new Places(repeating);
  }

  /**
   * The outcome of `batch`, once it is committed. `hasPaid`: its tenant has. Fails with `overloaded` if that takes too
   * long.
   */
  async charge(batch: Batch, hasPaid = true): Promise<ChargeOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<ChargeOutcome>();
    const item = this.#enter({ batch, hasPaid, resolve, reject });
    const timer = setTimeout(() => {
      item.hasTimedOut = true;
      this.#drop(item);
      reject(overloaded());
    }, WAIT_MS_MAX);
    this.#waiting.add(item);
    this.#start();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#count(item, -1);
    }
  }

  /** Records of all batches without an answer, as their limit counts them: a batch as RECORDS_MIN at least. */
  get unanswered(): number {
    return Math.ceil(this.#unanswered.records);
  }

  /** Its records would be held as long as its tenant is busy, or others repeat archived records. */
  #drop(item: Waiting): void {
    const { tenant } = item.batch;
    this.#waiting.drop(item);
    const left = this.#repeating.get(tenant)?.filter((other) => other !== item);
    if (left) this.#repeating.set(tenant, left);
    if (left?.length !== 0) return;
    this.#repeating.delete(tenant);
    this.#release(tenant);
  }

  /** Count a batch, and give it a place in the queue. */
  #enter(given: Pick<Waiting, 'batch' | 'hasPaid' | 'resolve' | 'reject'>): Waiting {
    const { batch, hasPaid } = given;
    const { tenant } = batch;
    if (this.#isAway(tenant)) throw serverAway();
    const weight = weightOf(batch);
    const share = this.#shares.get(tenant) ?? { records: 0, batches: 0, next: 0, hasPaid };
    this.#refuseTooMuch(share, weight, hasPaid);
    this.#shares.set(tenant, share);
    if (hasPaid && !share.hasPaid) this.#movePaid(tenant, share);
    if (!hasPaid && share.hasPaid) Object.assign(share, { hasPaid, next: 0 });
    const start = this.#startOf(share, weight);
    const kind = batch.records.length > this.#limits.records ? 'large' : 'small';
    const item = { ...given, hasPaid: share.hasPaid, weight, kind, start, hasTimedOut: false } as const;
    this.#count(item, 1);
    return item;
  }

  #refuseTooMuch(share: Share, weight: number, hasPaid: boolean): void {
    const { unanswered: max, batchesOfNeverPaid, batchesNeverPaid } = this.#limits;
    const others = hasPaid ? { records: 0, batches: 0 } : this.#unansweredNeverPaid;
    if (
      this.#unanswered.records + weight > max ||
      Math.max(share.records, others.records) + weight > max / 2 ||
      (!hasPaid && share.batches >= batchesOfNeverPaid) ||
      others.batches >= batchesNeverPaid
    )
      throw overloaded();
  }

  #startOf(share: Share, weight: number): number {
    const start = Math.max(this.#now[standingOf(share)], share.next);
    share.next = start + weight;
    return start;
  }

  /** The tenant has paid: its batches that wait go in their order before the new one, among those of tenants that paid. */
  #movePaid(tenant: TenantId, share: Share): void {
    share.hasPaid = true;
    share.next = 0;
    for (const item of this.#waiting.removeAll(tenant)) {
      this.#countPaid(item);
      item.start = this.#startOf(share, item.weight);
      this.#waiting.add(item);
    }
  }

  #countPaid(item: Waiting): void {
    if (!item.hasPaid) change(this.#unansweredNeverPaid, item, -1);
    item.hasPaid = true;
  }

  /** The tenant paid while a lock kept the batch: what it sent later must not overtake it for ever. */
  #putFirst(item: Waiting): void {
    if (item.hasPaid) return;
    this.#countPaid(item);
    item.start = -1;
  }

  #count(item: Waiting, by: 1 | -1): void {
    change(this.#unanswered, item, by);
    change(this.#shares.get(item.batch.tenant)!, item, by);
    if (!item.hasPaid) change(this.#unansweredNeverPaid, item, by);
    if (this.#unanswered.batches === 0) this.#shares.clear();
    else if (this.#shares.size > this.#sharesMax) this.#forgetShares();
  }

  /** A share without batches counts until the clock has passed it: or else, a tenant with one batch at a time would always be next. */
  #forgetShares(): void {
    for (const [tenant, { batches, next, hasPaid }] of this.#shares)
      if (batches === 0 && next <= this.#now[standingOf({ hasPaid })]) this.#shares.delete(tenant);
    // So that looking through them costs little for each batch.
    this.#sharesMax = Math.max(SHARES_MAX, 2 * this.#shares.size);
  }

  #start(): void {
    while (this.#running < this.#limits.transactions) {
      const group = this.#take();
      if (group.length === 0) return;
      this.#running += 1;
      void this.#run(group);
    }
  }

  /** Take the first batches whose tenants are free, as many as fit one transaction. */
  #take(): Waiting[] {
    const taken = this.#waiting.take((queue) => this.#mayLead(queue), this.#limits);
    for (const { hasPaid, start } of taken) {
      const standing = standingOf({ hasPaid });
      this.#now[standing] = Math.max(this.#now[standing], start);
    }
    return taken;
  }

  /** Whether its first batch may be the first of a transaction. */
  #mayLead({ hasPaid, kind, server }: QueueOf): boolean {
    const { transactions, ofOneKind, ofOneServer } = this.#limits;
    if (!hasPaid && this.#runningNeverPaid >= Math.max(1, transactions >> 1)) return false;
    if (kind === 'small' && this.#alone[standingOf({ hasPaid })] > 0) return false;
    const running = this.#runningOn.get(server) ?? NONE;
    return running[kind] < ofOneKind && running.large + running.small < placesOnServer(server, ofOneServer);
  }

  /** Another batch finds out whether it answers. */
  #isAway(tenant: TenantId): boolean {
    const server = this.#charging.serverOf?.(tenant);
    const { large, small } = this.#runningOn.get(server) ?? NONE;
    return large + small >= placesOnServer(server);
  }

  #countRunning(server: number | undefined, kind: Kind, change: 1 | -1): void {
    const running = this.#runningOn.get(server) ?? NONE;
    this.#runningOn.set(server, { ...running, [kind]: running[kind] + change });
  }

  async #run(group: readonly Waiting[]): Promise<void> {
    const first = group[0]!;
    const { kind } = first;
    const [server, standing] = [this.#charging.serverOf?.(first.batch.tenant), standingOf(first)];
    const count = (change: 1 | -1) => {
      this.#countRunning(server, kind, change);
      if (standing === 'neverPaid') this.#runningNeverPaid += change;
    };
    count(1);
    const records = group.reduce((sum, { batch }) => sum + batch.records.length, 0);
    const endAlone = records < this.#limits.records / 2 ? this.#beginAlone(standing) : () => {};
    const left = await this.#chargeFree(group);
    for (const { batch } of group) if (!left.has(batch.tenant)) this.#waiting.release(batch.tenant);
    this.#running -= 1;
    count(-1);
    endAlone();
    this.#start();
  }

  /** The tenants whose batches are charged later. */
  async #chargeFree(group: readonly Waiting[]): Promise<ReadonlySet<TenantId>> {
    const repeating = new Set<TenantId>();
    const charge = async (batches: readonly Batch[]) => {
      const shared = await this.#charging.free(batches);
      for (const tenant of shared.repeating) repeating.add(tenant);
      return shared.outcomes;
    };
    const left = await this.#charge(group, charge, isLockTimeout);
    const byTenant = Map.groupBy(left, (item) => item.batch.tenant);
    for (const [tenant, items] of byTenant) {
      if (repeating.has(tenant)) void this.#readAndCharge(tenant, items);
      else this.#retryOrWait(tenant, items);
    }
    return new Set(byTenant.keys());
  }

  /** Returns what ends it, if it has not ended by then. */
  #beginAlone(standing: Standing): () => void {
    const { aloneMs } = this.#limits;
    if (aloneMs === 0) return () => {};
    this.#alone[standing] += 1;
    let isOver = false;
    const end = () => {
      if (!isOver) this.#alone[standing] -= 1;
      isOver = true;
      clearTimeout(timer);
    };
    const timer = setTimeout(() => {
      end();
      this.#start();
    }, aloneMs);
    return end;
  }

  /**
   * Most locks are those of other processes that charge the same tenant, and end within milliseconds. Then the
   * next transaction takes the batches along, where waiting for each account would cost a transaction each.
   */
  #retryOrWait(tenant: TenantId, items: readonly Waiting[]): void {
    const { retryMs, patienceMs } = this.#limits;
    const now = performance.now();
    for (const item of items) item.lockedSince ??= now;
    const isNew = now - items[0]!.lockedSince! < patienceMs;
    if (!isNew && this.#locked.isFree(items[0]!.hasPaid)) void this.#waitFor(tenant, items);
    else void this.#tryLater(tenant, items, isNew ? retryMs : patienceMs);
  }

  /** Not counted against the limit of transactions, so that a locked account delays no other tenant. */
  async #waitFor(tenant: TenantId, items: readonly Waiting[]): Promise<void> {
    await this.#locked.run(items[0]!.hasPaid, () => this.#chargeTenant(tenant, items, (work) => work()));
    this.#release(tenant);
  }

  /** A batch that times out before it is read leaves the list. */
  async #readAndCharge(tenant: TenantId, items: readonly Waiting[]): Promise<void> {
    const awaited = items.filter(({ hasTimedOut }) => !hasTimedOut);
    const [first] = awaited;
    if (!first) return this.#release(tenant);
    this.#repeating.set(tenant, awaited);
    await this.#reading.run(first.hasPaid, async () => {
      const own = this.#repeating.get(tenant);
      if (!own) return;
      this.#repeating.delete(tenant);
      await this.#chargeTenant(tenant, own, (work) => this.#charged.run(first.hasPaid, work));
      this.#release(tenant);
    });
  }

  #release(tenant: TenantId): void {
    this.#waiting.release(tenant);
    this.#start();
  }

  async #chargeTenant(tenant: TenantId, items: readonly Waiting[], inPlace: InPlace): Promise<void> {
    const isAwaited = () => items.some(({ hasTimedOut }) => !hasTimedOut);
    const waiting = () => this.#waiting.of(tenant).map(({ batch }) => batch);
    await this.#charge(items, (batches) =>
      this.#charging.tenant(tenant, batches, { isAwaited, inPlace, waiting }),
    );
  }

  /** The tenant stays busy meanwhile, and its batches stay in order. */
  async #tryLater(tenant: TenantId, items: readonly Waiting[], afterMs: number): Promise<void> {
    await sleep(afterMs);
    const awaited = items.filter(({ hasTimedOut }) => !hasTimedOut);
    if (this.#shares.get(tenant)?.hasPaid) for (const item of awaited) this.#putFirst(item);
    for (const item of awaited) this.#waiting.add(item);
    this.#release(tenant);
  }

  /** Charge and answer. Returns the batches without an outcome: something of their tenant is locked. */
  async #charge(
    waiting: readonly Waiting[],
    charge: (batches: readonly Batch[]) => Promise<Outcomes>,
    isLocked: (error: unknown) => boolean = () => false,
  ): Promise<Waiting[]> {
    const items = waiting.filter((item) => !item.hasTimedOut);
    if (items.length === 0) return [];
    try {
      const outcomes = await charge(items.map((item) => item.batch));
      return items.filter((item) => !answer(item, outcomes));
    } catch (error) {
      if (items.length === 1 && isLocked(error)) return items;
      if (items.length === 1 || !(isLocked(error) || mayConcernOneBatch(error))) {
        for (const { reject } of items) reject(error);
        return [];
      }
    }
    const left: Waiting[] = [];
    for (const item of items) {
      // The batches of a tenant stay in order.
      const isBehind = left.some(({ batch }) => batch.tenant === item.batch.tenant);
      left.push(...(isBehind ? [item] : await this.#charge([item], charge, isLocked)));
    }
    return left;
  }
}

function weightOf({ records }: Batch): number {
  return Math.max(records.length, records.bytes.length / BYTES_OF_RECORD, RECORDS_MIN);
}

function standingOf({ hasPaid }: Pick<Waiting, 'hasPaid'>): Standing {
  return hasPaid ? 'paid' : 'neverPaid';
}

function change(unanswered: Unanswered, { weight }: Waiting, by: 1 | -1): void {
  unanswered.records += by * weight;
  unanswered.batches += by;
}

/** Nothing was stored, and the other batches may go without the one at fault. */
function mayConcernOneBatch(error: unknown): boolean {
  return isRefusal(error) || error instanceof BalanceOutOfRangeError || error instanceof DamagedColumnError;
}

/** Returns whether there was an outcome to answer with. */
function answer({ batch, resolve }: Waiting, outcomes: Outcomes): boolean {
  const outcome = outcomes.get(batch);
  if (outcome) resolve(outcome);
  return outcome !== undefined;
}

function overloaded(): Failure {
  return new Failure('overloaded', { retryAfter: RETRY_AFTER_SECONDS });
}
