/**
 * Limits the streams of this process. A part of them is for active tenants only, because anyone can sign up tenants that
 * never pay.
 */
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { TenantLimit } from '../../base/tenants/limits.ts';
import { OpenStreams } from './open-streams.ts';

export const STREAMS_LIMIT = {
  name: 'event_streams',
  pending: 5,
  active: 100,
  unit: 'open event streams',
} as const satisfies TenantLimit;

/** Pages of the console that people have open. They take no place of the tenant's machines. */
export const CONSOLE_STREAMS_LIMIT = {
  name: 'console_streams',
  pending: 10,
  active: 100,
  unit: 'open pages of the console that follow events',
} as const satisfies TenantLimit;

const STREAMS_MAX = 1_000;
const STREAMS_RESERVED = 500;

export class StreamLimit {
  readonly #places = new OpenStreams(STREAMS_LIMIT, { max: STREAMS_MAX, reserved: STREAMS_RESERVED });
  readonly #pages = new OpenStreams(CONSOLE_STREAMS_LIMIT, { max: STREAMS_MAX, reserved: STREAMS_RESERVED });

  /** Count one stream until the returned function is called. Throws `too_many_streams` beyond the limits. */
  enter(caller: LimitedCaller): () => void {
    return this.#places.enter(caller);
  }

  /** The same for a page of the console. */
  enterPage(caller: LimitedCaller): () => void {
    return this.#pages.enter(caller);
  }
}
