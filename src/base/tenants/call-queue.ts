/**
 * Limits the calls of each tenant that run at the same time, so that no tenant holds all database
 * connections.
 *
 * A call takes a place before it asks for a connection. Without a free place it waits: the calls of one
 * tenant in order, tenants in turns. Each process has places of its own.
 */
import { Failure } from '../failure.ts';
import { type LimitedCaller, limitOfCaller } from './limited-caller.ts';
import { beyondLimit, type TenantLimit } from './limits.ts';
import type { TenantId } from './tenant.ts';

export const CALLS_LIMIT = {
  name: 'calls_in_flight',
  pending: 8,
  active: 8,
  unit: 'calls at the same time',
} as const satisfies TenantLimit;

export interface CallQueueLimits {
  /** Calls of all tenants that run at the same time. */
  readonly running: number;
  /** Calls of one tenant that run at the same time, whatever its own limit. */
  readonly runningPerTenant: number;
  /** Calls that count as one against the tenant's own limit; default 1. */
  readonly callsPerPlace?: number;
  /** The limit of all tenants that never paid together; default: no limit. */
  readonly runningNeverPaid?: number;
  readonly waiting: number;
  readonly waitingPerTenant: number;
  /** The limit of all tenants that never paid together; default: no limit. */
  readonly waitingNeverPaid?: number;
  readonly waitMs: number;
  /** Places of a tenant are not what its own limit is about, so failures do not name it. */
  readonly isOfProcess?: boolean;
}

/** The rest of the connections serves authentication, charging, snapshots and background work. */
const SHARE_OF_CONNECTIONS = 0.75;
/** So that other tenants find a place at once while one tenant uses all of its own. */
const SHARE_OF_TENANT = 2 / 3;

const WAITING_MAX = 5_000;
const WAITING_PER_TENANT_MAX = 500;
const WAIT_MS_MAX = 10_000;

const RETRY = { retryAfter: 2 };

/** The limits of a process that has so many database connections. */
export function callQueueLimits(connections: number): CallQueueLimits {
  const running = Math.max(1, Math.floor(connections * SHARE_OF_CONNECTIONS));
  return {
    running,
    runningPerTenant: Math.max(1, Math.floor(running * SHARE_OF_TENANT)),
    waiting: WAITING_MAX,
    waitingPerTenant: WAITING_PER_TENANT_MAX,
    waitMs: WAIT_MS_MAX,
  };
}

/** So many calls whose statements are gathered share what one other call needs. */
const GATHERED_CALLS = 8;

/** The limits of calls that hold no connection, because they share their statements. */
export function gatheredCallLimits(connections: number): CallQueueLimits {
  const { running, runningPerTenant, ...waiting } = callQueueLimits(connections);
  return {
    ...waiting,
    running: running * GATHERED_CALLS,
    runningPerTenant: runningPerTenant * GATHERED_CALLS,
    callsPerPlace: GATHERED_CALLS,
  };
}

interface Waiting {
  readonly begin: () => void;
}

interface Calls {
  running: number;
  /** As the newest caller's limits have it. */
  runningMax: number;
  /** As the newest caller's status says. */
  hasPaid: boolean;
  readonly waiting: Waiting[];
}

export class CallQueue {
  readonly #limits: CallQueueLimits;
  readonly #tenants = new Map<TenantId, Calls>();
  /** Tenants with waiting calls. The first one is next. */
  readonly #inTurn = new Map<TenantId, Calls>();
  readonly #running = new Count();
  readonly #waiting = new Count();

  constructor(limits: CallQueueLimits) {
    this.#limits = limits;
  }

  /**
   * Run `work` once the tenant has a place. Fails with `too_many_calls` if that takes too long, or if too
   * many calls wait already.
   */
  async run<T>(caller: LimitedCaller, work: () => Promise<T>): Promise<T> {
    const calls = this.#callsOf(caller);
    if (this.#mayRun(calls)) this.#begin(calls);
    else await this.#turn(caller, calls);
    try {
      return await work();
    } finally {
      this.#end(caller.tenant, calls);
    }
  }

  #callsOf(caller: LimitedCaller): Calls {
    const { runningPerTenant, callsPerPlace = 1 } = this.#limits;
    const runningMax = Math.min(limitOfCaller(caller, CALLS_LIMIT) * callsPerPlace, runningPerTenant);
    const hasPaid = caller.tenantStatus !== 'pending';
    const known = this.#tenants.get(caller.tenant);
    if (known) {
      this.#running.move(known.running, known.hasPaid, hasPaid);
      this.#waiting.move(known.waiting.length, known.hasPaid, hasPaid);
      return Object.assign(known, { runningMax, hasPaid });
    }
    const calls = { running: 0, runningMax, hasPaid, waiting: [] };
    this.#tenants.set(caller.tenant, calls);
    return calls;
  }

  #mayRun({ running, runningMax, hasPaid }: Calls): boolean {
    const { running: max, runningNeverPaid } = this.#limits;
    return (
      this.#running.isBelow(max, hasPaid ? undefined : runningNeverPaid) && running < Math.max(1, runningMax)
    );
  }

  #begin(calls: Calls): void {
    calls.running += 1;
    this.#running.add(1, calls.hasPaid);
  }

  /** Resolves once the call holds a place. */
  #turn(caller: LimitedCaller, calls: Calls): Promise<void> {
    const { waiting, waitingPerTenant, waitingNeverPaid, waitMs, isOfProcess = false } = this.#limits;
    const hasSpace = this.#waiting.isBelow(waiting, calls.hasPaid ? undefined : waitingNeverPaid);
    if (!hasSpace || calls.waiting.length >= waitingPerTenant) {
      this.#forgetIdle(caller.tenant, calls);
      return Promise.reject(tooMany(calls, isOfProcess));
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        calls.waiting.splice(calls.waiting.indexOf(call), 1);
        this.#left(caller.tenant, calls);
        reject(tooMany(calls, isOfProcess));
      }, waitMs);
      const call: Waiting = {
        begin: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      calls.waiting.push(call);
      this.#waiting.add(1, calls.hasPaid);
      this.#inTurn.set(caller.tenant, calls);
    });
  }

  #end(tenant: TenantId, calls: Calls): void {
    calls.running -= 1;
    this.#running.add(-1, calls.hasPaid);
    if (this.#waiting.all > 0) this.#handOn();
    this.#forgetIdle(tenant, calls);
  }

  /** Gives the place at once, so that no new call can take it first. */
  #handOn(): void {
    for (const [tenant, calls] of this.#inTurn) {
      if (!this.#mayRun(calls)) continue;
      this.#begin(calls);
      // Behind the other tenants that wait.
      this.#inTurn.delete(tenant);
      this.#inTurn.set(tenant, calls);
      const next = calls.waiting.shift()!;
      this.#left(tenant, calls);
      next.begin();
      return;
    }
  }

  /** A call of the tenant waits no more. */
  #left(tenant: TenantId, calls: Calls): void {
    this.#waiting.add(-1, calls.hasPaid);
    if (calls.waiting.length === 0) this.#inTurn.delete(tenant);
    this.#forgetIdle(tenant, calls);
  }

  #forgetIdle(tenant: TenantId, calls: Calls): void {
    if (calls.running === 0 && calls.waiting.length === 0) this.#tenants.delete(tenant);
  }
}

/** Counts all tenants, and those that never paid. */
class Count {
  all = 0;
  #neverPaid = 0;

  add(change: number, hasPaid: boolean): void {
    this.all += change;
    if (!hasPaid) this.#neverPaid += change;
  }

  /** The status of a tenant that has `count` has changed. */
  move(count: number, hadPaid: boolean, hasPaid: boolean): void {
    this.add(-count, hadPaid);
    this.add(count, hasPaid);
  }

  isBelow(max: number, maxNeverPaid = Number.POSITIVE_INFINITY): boolean {
    return this.all < max && this.#neverPaid < maxNeverPaid;
  }
}

/** Names the tenant's own limit if it was reached, and otherwise the load of the process. */
function tooMany(calls: Calls, isOfProcess: boolean): Failure {
  if (isOfProcess || calls.running < calls.runningMax) return new Failure('overloaded', RETRY);
  return beyondLimit('too_many_calls', CALLS_LIMIT, calls.runningMax, RETRY);
}
