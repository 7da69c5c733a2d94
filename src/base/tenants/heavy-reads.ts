/**
 * Reads of thousands of rows, such as look-ups and exports, so that all others go before them.
 *
 * A few run at the same time, one of a tenant; tenants take turns, and those that never paid leave half of the places and of
 * the queue to the others. One that runs takes its place among the calls of its tenant, too. Its work on the main thread is
 * done in slices, of which those that never paid have every second turn.
 */
import { Turns } from '../lib/turns.ts';
import { CallQueue, type CallQueueLimits, callQueueLimits } from './call-queue.ts';
import type { LimitedCaller } from './limited-caller.ts';
import type { TenantId } from './tenant.ts';
import type { ServerOf } from './tenant-servers.ts';

/** The part of the connections of calls that heavy reads may take. */
const SHARE_OF_CALLS = 1 / 6;

/** The limits of a process that has so many database connections. */
export function heavyReadLimits(connections: number): CallQueueLimits {
  const { running: calls, waiting, waitMs } = callQueueLimits(connections);
  const running = Math.max(2, Math.floor(calls * SHARE_OF_CALLS));
  return {
    running,
    runningPerTenant: 1,
    runningNeverPaid: Math.floor(running / 2),
    runningPerServer: Math.ceil(running / 2),
    waiting,
    waitingPerTenant: 100,
    waitingNeverPaid: waiting / 2,
    waitMs,
    isOfProcess: true,
  };
}

export class HeavyReads {
  readonly #queue: CallQueue;
  readonly #calls: CallQueue;
  readonly #turns = new Turns<TenantId>();

  constructor(limits: CallQueueLimits, calls: CallQueue, serverOf?: ServerOf) {
    this.#queue = new CallQueue(limits, serverOf);
    this.#calls = calls;
  }

  run<T>(caller: LimitedCaller, work: (hasWaited: boolean) => Promise<T>): Promise<T> {
    return this.#queue.run(caller, (hasWaited) =>
      this.#calls.run(caller, (hasWaitedAgain) => work(hasWaited || hasWaitedAgain)),
    );
  }

  /** Do `work` to its end. A slice ends with each `yield`. */
  inSlices<T>(caller: LimitedCaller, work: Generator<unknown, T>): Promise<T> {
    return this.#turns.run(caller.tenant, work, caller.tenantStatus === 'pending');
  }
}
