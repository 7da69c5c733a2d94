/**
 * Limits how many streams of this process read a snapshot at once. A part of the turns is for active tenants only, because
 * anyone can sign up tenants that never pay.
 */
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { isActive, tooManyStreams } from './open-streams.ts';

/** Each holds a database connection. A tenant has one at a time. */
const SNAPSHOTS_AT_ONCE = 4;
const SNAPSHOTS_RESERVED = 2;
const SNAPSHOT_WAIT_MS = 10_000;

interface Waiting {
  readonly caller: LimitedCaller;
  readonly begin: () => void;
}

export class SnapshotLimit {
  /** Tenants whose snapshots are being read, and whether they are active. */
  readonly #reading = new Map<TenantId, boolean>();
  readonly #waiting: Waiting[] = [];

  /**
   * Run `read` when it is the tenant's turn; `undefined` if `signal` was aborted before that. Throws
   * `too_many_streams` if that takes too long.
   */
  async inTurn<T>(
    caller: LimitedCaller,
    signal: AbortSignal,
    read: () => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#mayRead(caller)) this.#begin(caller);
    else if (!(await this.#turn(caller, signal))) return undefined;
    try {
      return await read();
    } finally {
      this.#reading.delete(caller.tenant);
      this.#handOn();
    }
  }

  #mayRead(caller: LimitedCaller): boolean {
    if (this.#reading.has(caller.tenant) || this.#reading.size >= SNAPSHOTS_AT_ONCE) return false;
    const others = [...this.#reading.values()].filter((active) => !active).length;
    return isActive(caller) || others < SNAPSHOTS_AT_ONCE - SNAPSHOTS_RESERVED;
  }

  #begin(caller: LimitedCaller): void {
    this.#reading.set(caller.tenant, isActive(caller));
  }

  /** Whether the tenant got a turn. */
  #turn(caller: LimitedCaller, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      const leave = () => {
        settle();
        this.#waiting.splice(this.#waiting.indexOf(waiting), 1);
      };
      const giveUp = () => {
        leave();
        resolve(false);
      };
      const waiting: Waiting = {
        caller,
        begin: () => {
          settle();
          resolve(true);
        },
      };
      const timer = setTimeout(() => {
        leave();
        reject(tooManyStreams());
      }, SNAPSHOT_WAIT_MS);
      signal.addEventListener('abort', giveUp);
      this.#waiting.push(waiting);
    });
  }

  /** Gives the turn at once, so that no new stream can take it first. */
  #handOn(): void {
    const at = this.#waiting.findIndex(({ caller }) => this.#mayRead(caller));
    if (at < 0) return;
    const [next] = this.#waiting.splice(at, 1);
    this.#begin(next!.caller);
    next!.begin();
  }
}
