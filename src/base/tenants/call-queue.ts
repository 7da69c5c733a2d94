/**
 * Limits the calls of each tenant that run at the same time, so that no tenant holds all database
 * connections.
 *
 * A call takes a place before it asks for a connection. Without a free place it waits: the calls of one
 * tenant in order, tenants in turns. Tenants that never paid together have the places of one tenant and half of
 * the queue, and take every second turn, because anyone can sign up a thousand of them. Each process has places of its own.
 *
 * The tenants of one of several database servers leave places to those of the others. While it is away, one call of them finds out
 * whether it answers, and the others fail at once.
 */
import { awayServers } from '../db/away-servers.ts';
import { Failure, RETRY_AFTER_OVERLOADED, serverAway } from '../failure.ts';
import { type LimitedCaller, limitOfCaller } from './limited-caller.ts';
import { beyondLimit, type TenantLimit } from './limits.ts';
import type { TenantId } from './tenant.ts';
import { placesOnServer, type ServerOf } from './tenant-servers.ts';

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
  /** The limit of all tenants of one database server together; default: no limit. */
  readonly runningPerServer?: number;
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

const RETRY = { retryAfter: RETRY_AFTER_OVERLOADED };

/** The limits of a process that has so many database connections. */
export function callQueueLimits(connections: number): CallQueueLimits {
  const running = Math.max(1, Math.floor(connections * SHARE_OF_CONNECTIONS));
  const runningPerTenant = Math.max(1, Math.floor(running * SHARE_OF_TENANT));
  return {
    running,
    runningPerTenant,
    runningNeverPaid: runningPerTenant,
    runningPerServer: Math.max(1, running >> 1),
    waiting: WAITING_MAX,
    waitingPerTenant: WAITING_PER_TENANT_MAX,
    waitingNeverPaid: WAITING_MAX / 2,
    waitMs: WAIT_MS_MAX,
  };
}

/** So many calls whose statements are gathered share what one other call needs. */
const GATHERED_CALLS = 8;

/** The limits of calls that hold no connection, because they share their statements. */
export function gatheredCallLimits(connections: number): CallQueueLimits {
  const { running, runningPerTenant, ...waiting } = callQueueLimits(connections);
  const ofTenant = runningPerTenant * GATHERED_CALLS;
  return {
    ...waiting,
    running: running * GATHERED_CALLS,
    runningPerTenant: ofTenant,
    runningNeverPaid: ofTenant,
    runningPerServer: Math.max(1, (running * GATHERED_CALLS) >> 1),
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
  /** The database server that has the tenant, as far as it is known. */
  server: number | undefined;
  readonly waiting: Waiting[];
}

type Turns = Map<TenantId, Calls>;

export class CallQueue {
  readonly #limits: CallQueueLimits;
  readonly #tenants = new Map<TenantId, Calls>();
  /** Tenants with waiting calls: those that paid, and those that never did. The first one is next. */
  readonly #paidInTurn: Turns = new Map();
  readonly #neverPaidInTurn: Turns = new Map();
  /** Whether the last place that was handed on went to a tenant that paid. */
  #wasPaid = false;
  readonly #running = new Count();
  /** By server. */
  readonly #runningOn = new Map<number | undefined, number>();
  readonly #waiting = new Count();
  readonly #serverOf: ServerOf;

  /** `serverOf`: where there are several database servers. */
  constructor(limits: CallQueueLimits, serverOf: ServerOf = () => undefined) {
    this.#limits = limits;
    this.#serverOf = serverOf;
  }

  /**
   * Run `work` once the tenant has a place. Fails with `too_many_calls` if that takes too long, or if too
   * many calls wait already. `work` hears whether it waited, since what was read before may be old then.
   */
  async run<T>(caller: LimitedCaller, work: (hasWaited: boolean) => Promise<T>): Promise<T> {
    const calls = this.#callsOf(caller);
    const mustWait = !this.#mayRun(calls);
    if (mustWait) await this.#turn(caller, calls);
    else this.#begin(calls);
    try {
      return await work(mustWait);
    } finally {
      this.#end(caller.tenant, calls);
    }
  }

  #callsOf(caller: LimitedCaller): Calls {
    const { runningPerTenant, callsPerPlace = 1 } = this.#limits;
    const runningMax = Math.min(limitOfCaller(caller, CALLS_LIMIT) * callsPerPlace, runningPerTenant);
    const hasPaid = caller.tenantStatus !== 'pending';
    const server = this.#serverOf(caller.tenant);
    const known = this.#tenants.get(caller.tenant);
    if (known) {
      this.#countOn(known.server, -known.running);
      this.#countOn(server, known.running);
      this.#running.move(known.running, known.hasPaid, hasPaid);
      this.#waiting.move(known.waiting.length, known.hasPaid, hasPaid);
      const mustMove = known.hasPaid !== hasPaid && this.#turnsOf(known).delete(caller.tenant);
      Object.assign(known, { runningMax, hasPaid, server });
      if (mustMove) this.#turnsOf(known).set(caller.tenant, known);
      return known;
    }
    const calls = { running: 0, runningMax, hasPaid, server, waiting: [] };
    this.#tenants.set(caller.tenant, calls);
    return calls;
  }

  #mayRun(calls: Calls): boolean {
    return (
      this.#hasPlaceFor(calls) &&
      calls.running < Math.max(1, calls.runningMax) &&
      this.#hasPlaceOn(calls.server)
    );
  }

  #hasPlaceOn(server: number | undefined): boolean {
    return (this.#runningOn.get(server) ?? 0) < placesOnServer(server, this.#limits.runningPerServer);
  }

  #countOn(server: number | undefined, change: number): void {
    if (server !== undefined) this.#runningOn.set(server, (this.#runningOn.get(server) ?? 0) + change);
  }

  /** Whether all tenants together, or those that never paid, leave one. */
  #hasPlaceFor({ hasPaid }: Calls): boolean {
    const { running: max, runningNeverPaid } = this.#limits;
    return this.#running.isBelow(max, hasPaid ? undefined : runningNeverPaid);
  }

  #begin(calls: Calls): void {
    calls.running += 1;
    this.#running.add(1, calls.hasPaid);
    this.#countOn(calls.server, 1);
  }

  /** Resolves once the call holds a place. */
  #turn(caller: LimitedCaller, calls: Calls): Promise<void> {
    const { waiting, waitingPerTenant, waitingNeverPaid, waitMs, isOfProcess = false } = this.#limits;
    const hasSpace = this.#waiting.isBelow(waiting, calls.hasPaid ? undefined : waitingNeverPaid);
    const isAway = calls.server !== undefined && awayServers().has(calls.server);
    if (isAway || !hasSpace || calls.waiting.length >= waitingPerTenant) {
      this.#forgetIdle(caller.tenant, calls);
      return Promise.reject(isAway ? serverAway() : tooMany(calls, isOfProcess));
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
      this.#turnsOf(calls).set(caller.tenant, calls);
    });
  }

  #turnsOf({ hasPaid }: Calls): Turns {
    return hasPaid ? this.#paidInTurn : this.#neverPaidInTurn;
  }

  #end(tenant: TenantId, calls: Calls): void {
    calls.running -= 1;
    this.#running.add(-1, calls.hasPaid);
    this.#countOn(calls.server, -1);
    if (this.#waiting.all > 0) this.#handOn();
    this.#forgetIdle(tenant, calls);
  }

  /** Gives the place at once, so that no new call can take it first. */
  #handOn(): void {
    const next = this.#wasPaid ? this.#neverPaidInTurn : this.#paidInTurn;
    const others = this.#wasPaid ? this.#paidInTurn : this.#neverPaidInTurn;
    if (!this.#handTo(next)) this.#handTo(others);
  }

  /** Whether one of the tenants got the place. */
  #handTo(turns: Turns): boolean {
    for (const [tenant, calls] of turns) {
      if (!this.#hasPlaceFor(calls)) return false;
      if (!this.#mayRun(calls)) continue;
      this.#begin(calls);
      this.#wasPaid = calls.hasPaid;
      // Behind the other tenants that wait.
      turns.delete(tenant);
      turns.set(tenant, calls);
      const next = calls.waiting.shift()!;
      this.#left(tenant, calls);
      next.begin();
      return true;
    }
    return false;
  }

  /** A call of the tenant waits no more. */
  #left(tenant: TenantId, calls: Calls): void {
    this.#waiting.add(-1, calls.hasPaid);
    if (calls.waiting.length === 0) this.#turnsOf(calls).delete(tenant);
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
