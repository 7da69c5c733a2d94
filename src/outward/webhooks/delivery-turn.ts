/** What a turn of deliveries to one webhook gets from the worker. */
import type { LeaseHolder } from '../../base/processes/own-process.ts';
import type { RetrySchedule } from './retry-schedule.ts';

export interface DeliveryRules {
  readonly schedule: RetrySchedule;
  /** Longer than one request may take. */
  readonly leaseSeconds: number;
  /** How long a turn may take before another webhook gets the lane. */
  readonly turnMs: number;
}

/** The place of one request at a time. */
export interface RequestPlace {
  /** Sends one request, which the place may end by the signal. */
  readonly during: <T>(send: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Whether the service itself has ended the request that was under way, so that its outcome does not count. */
  readonly isAborted: () => boolean;
  /** It is free once its request has ended. */
  readonly release: () => void;
}

export interface Turn extends DeliveryRules {
  /** Whose leases it takes. */
  readonly process: LeaseHolder;
  /** The place of the turn, which the worker releases. */
  readonly place: RequestPlace;
  /** A place for one more request, which the turn releases. `undefined`: there is none now. */
  readonly takePlace: () => RequestPlace | undefined;
  /** Requests of earlier turns of the webhook that are still under way. */
  readonly left: () => number;
  /** A request that outlives the turn. */
  readonly leave: (request: Promise<void>) => void;
  /** Whether to end the turn after the requests that are under way. */
  readonly isEnding: () => boolean;
  /** Whether another webhook waits for the place, so that the turn should end after a delivery. */
  readonly isWanted: () => boolean;
  /** Runs the statements of all turns, so that they do not take every database connection. */
  readonly inDatabase: <T>(work: () => Promise<T>) => Promise<T>;
}

/** When the next turn begins. `restSeconds`: not before; `until due`: not before an event that was put aside is due. */
export type Rest = 'until due' | { readonly restSeconds: number };

/** How a turn ends. `nothing`: nothing waits; `more`: events may wait; `released`: the lease is given back already. */
export type TurnEnd = 'nothing' | 'more' | 'released' | Rest;
