/**
 * Limits what follows revocations at once, because each poll that waits and each stream holds a connection. Anyone may
 * follow, so those without a key are counted by address. Streams with a relay key have places of their own, which
 * strangers cannot take.
 */
import { Failure } from '../../base/failure.ts';
import { networkOf } from '../../base/lib/address.ts';
import type { LimitedCaller } from '../../base/tenants/limited-caller.ts';
import type { TenantLimit } from '../../base/tenants/limits.ts';
import { OpenStreams } from '../streams/open-streams.ts';

export const RELAY_STREAMS_LIMIT = {
  name: 'relay_streams',
  pending: 20,
  active: 2_000,
  unit: 'open streams of relays',
} as const satisfies TenantLimit;

/** Shares of the connections that the process takes. What anyone can have is six tenths: the others get in all the same. */
const RELAY_STREAMS_SHARE = 0.8;
const NEVER_PAID_SHARE = 0.2;
const KEYLESS_SHARE = 0.4;
const KEYLESS_PER_ADDRESS_MAX = 200;
/** Every poll ends within half a minute, so places become free soon. */
const RETRY_AFTER_SECONDS = 5;

export class FollowerLimit {
  readonly #withKey: OpenStreams;
  readonly #keylessMax: number;
  readonly #perNetwork = new Map<string, number>();
  #keyless = 0;

  /** `connectionsMax`: of this process. */
  constructor(connectionsMax: number) {
    const shareOf = (part: number) => Math.ceil(connectionsMax * part);
    this.#keylessMax = shareOf(KEYLESS_SHARE);
    const max = shareOf(RELAY_STREAMS_SHARE);
    this.#withKey = new OpenStreams(RELAY_STREAMS_LIMIT, { max, reserved: max - shareOf(NEVER_PAID_SHARE) });
  }

  /**
   * Count one poll or stream until the returned function is called. `caller` has a relay key. Throws
   * `too_many_streams` beyond the limits of this process.
   */
  enter(address: string, caller?: LimitedCaller): () => void {
    if (caller) return this.#withKey.enter(caller);
    const network = networkOf(address);
    const count = this.#perNetwork.get(network) ?? 0;
    if (count >= KEYLESS_PER_ADDRESS_MAX || this.#keyless >= this.#keylessMax) {
      throw new Failure('too_many_streams', { retryAfter: RETRY_AFTER_SECONDS });
    }
    this.#perNetwork.set(network, count + 1);
    this.#keyless += 1;
    return () => this.#leave(network);
  }

  #leave(network: string): void {
    const count = this.#perNetwork.get(network)! - 1;
    if (count > 0) this.#perNetwork.set(network, count);
    else this.#perNetwork.delete(network);
    this.#keyless -= 1;
  }
}
