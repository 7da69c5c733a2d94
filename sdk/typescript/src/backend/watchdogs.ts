/** Timers on conditions of rooms. */
import { WatchdogSchema } from '@boxoffice/contract/watchdog';
import { WatchdogService } from '@boxoffice/contract/watchdog_service';
import type { CallOptions, MutationOptions } from './calls.ts';
import type { Control } from './control.ts';
import type {
  ActorInput,
  DeleteWatchdogRequest,
  GetWatchdogRequest,
  ListWatchdogsRequest,
  Watchdog,
  WatchdogInput,
} from './control-types.ts';
import type { Listing } from './listing.ts';
import { maskOf } from './plain.ts';

/** The condition of a watchdog, one of these fields, and when it warns. */
type Timing = Pick<
  WatchdogInput,
  | 'maxDurationSeconds'
  | 'unusedForSeconds'
  | 'emptyForSeconds'
  | 'hostAbsentForSeconds'
  | 'aloneForSeconds'
  | 'participantMaxDurationSeconds'
  | 'unadmittedForSeconds'
  | 'warnBeforeSeconds'
>;

/** A watchdog to arm, with one condition. */
export interface NewWatchdog extends Timing {
  /** Name of the room. */
  readonly room: string;
  /** What it does when the condition has held for long enough. */
  readonly action: NonNullable<WatchdogInput['action']>;
  /** The participant on whose behalf the call is made; absent: the tenant itself. */
  readonly actor?: ActorInput | undefined;
}

/** A watchdog, and what is to change of it. */
export interface WatchdogChanges extends Timing {
  /** Id of the watchdog. */
  readonly id: string;
  /** What it does when the condition has held for long enough. */
  readonly action?: WatchdogInput['action'];
  /** The participant on whose behalf the call is made; absent: the tenant itself. */
  readonly actor?: ActorInput | undefined;
}

const { method } = WatchdogService;

/** Watchdogs: `boxoffice.watchdogs`. Durations are in seconds, down to milliseconds. */
export class Watchdogs {
  readonly #control: Control;

  constructor(control: Control) {
    this.#control = control;
  }

  /** Arm a watchdog on a live room, with one condition. */
  async create({ actor, ...watchdog }: NewWatchdog, options?: MutationOptions): Promise<Watchdog> {
    const request = { watchdog, actor };
    return (await this.#control.mutate(method.createWatchdog, request, options)).watchdog!;
  }

  /** Read a watchdog, including one that has fired. */
  async get(request: GetWatchdogRequest, options?: CallOptions): Promise<Watchdog> {
    return (await this.#control.query(method.getWatchdog, request, options)).watchdog!;
  }

  /** Watchdogs, newest first. */
  list(request: ListWatchdogsRequest = {}, options?: CallOptions): Listing<Watchdog> {
    return this.#control.list(method.listWatchdogs, 'watchdogs', request, options);
  }

  /** Change the given fields of a watchdog, and arm it again. The kind of its condition cannot change. */
  async update({ id, actor, ...changes }: WatchdogChanges, options?: MutationOptions): Promise<Watchdog> {
    const request = {
      watchdog: { id, ...changes },
      updateMask: maskOf(WatchdogSchema, changes, 'watchdog'),
      actor,
    };
    return (await this.#control.mutate(method.updateWatchdog, request, options)).watchdog!;
  }

  /** Delete a watchdog that has not fired. */
  async delete(request: DeleteWatchdogRequest, options?: MutationOptions): Promise<void> {
    await this.#control.mutate(method.deleteWatchdog, request, options);
  }
}
