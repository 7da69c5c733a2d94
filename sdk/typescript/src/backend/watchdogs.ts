/** Timers on conditions of rooms. */
import type { Actor as ActorMessage } from '@boxoffice/contract/actor';
import { type Watchdog as WatchdogMessage, WatchdogSchema } from '@boxoffice/contract/watchdog';
import {
  type DeleteWatchdogRequest,
  type GetWatchdogRequest,
  type ListWatchdogsRequest,
  WatchdogService,
} from '@boxoffice/contract/watchdog_service';
import type { CallOptions, MutationOptions } from './calls.ts';
import type { Control } from './control.ts';
import type { Listing } from './listing.ts';
import { type Input, maskOf, type Plain, type Request } from './plain.ts';

/** A watchdog with one of its conditions, in seconds. */
export type Watchdog = Plain<WatchdogMessage>;
type Fields = Input<WatchdogMessage>;

/** The participant on whose behalf a call is made; absent: the tenant itself. */
type OnBehalf = { readonly actor?: Input<ActorMessage> | undefined };

/** The condition of a watchdog, one of these fields, and when it warns. */
type Timing = Pick<
  Fields,
  | 'maxDurationSeconds'
  | 'unusedForSeconds'
  | 'emptyForSeconds'
  | 'hostAbsentForSeconds'
  | 'aloneForSeconds'
  | 'participantMaxDurationSeconds'
  | 'unadmittedForSeconds'
  | 'warnBeforeSeconds'
>;

const { method } = WatchdogService;

/** Watchdogs: `boxoffice.watchdogs`. Durations are in seconds, down to milliseconds. */
export class Watchdogs {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /** Arm a watchdog on a live room, with one condition. */
  async create(
    { actor, ...watchdog }: Timing & { room: string; action: NonNullable<Fields['action']> } & OnBehalf,
    options?: MutationOptions,
  ): Promise<Watchdog> {
    const request = { watchdog, actor };
    return (await this.#control.mutate(method.createWatchdog, request, options)).watchdog!;
  }

  /** Read a watchdog, including one that has fired. */
  async get(request: Request<GetWatchdogRequest, 'id'>, options?: CallOptions): Promise<Watchdog> {
    return (await this.#control.query(method.getWatchdog, request, options)).watchdog!;
  }

  /** Watchdogs, newest first. */
  list(request: Request<ListWatchdogsRequest> = {}, options?: CallOptions): Listing<Watchdog> {
    return this.#control.list(method.listWatchdogs, 'watchdogs', request, options);
  }

  /** Change the given fields of a watchdog, and arm it again. The kind of its condition cannot change. */
  async update(
    { id, actor, ...changes }: Timing & { id: string; action?: Fields['action'] } & OnBehalf,
    options?: MutationOptions,
  ): Promise<Watchdog> {
    const request = {
      watchdog: { id, ...changes },
      updateMask: maskOf(WatchdogSchema, changes, 'watchdog'),
      actor,
    };
    return (await this.#control.mutate(method.updateWatchdog, request, options)).watchdog!;
  }

  /** Delete a watchdog that has not fired. */
  async delete(request: Request<DeleteWatchdogRequest, 'id'>, options?: MutationOptions): Promise<void> {
    await this.#control.mutate(method.deleteWatchdog, request, options);
  }
}
