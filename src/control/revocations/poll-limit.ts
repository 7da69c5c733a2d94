/** Limits concurrent polls, because anyone may poll, and each waiting poll holds a connection. */
import { Failure } from '../../base/failure.ts';
import { networkOf } from '../../base/lib/address.ts';

const POLLS_PER_ADDRESS_MAX = 200;
const POLLS_MAX = 10_000;
/** Every poll ends within half a minute, so places become free soon. */
const RETRY_AFTER_SECONDS = 5;

export class PollLimit {
  readonly #perNetwork = new Map<string, number>();
  #total = 0;

  /**
   * Count one poll until the returned function is called. Throws `too_many_streams` beyond the limits of this
   * process.
   */
  enter(address: string): () => void {
    const network = networkOf(address);
    const count = this.#perNetwork.get(network) ?? 0;
    if (count >= POLLS_PER_ADDRESS_MAX || this.#total >= POLLS_MAX) {
      throw new Failure('too_many_streams', { retryAfter: RETRY_AFTER_SECONDS });
    }
    this.#perNetwork.set(network, count + 1);
    this.#total += 1;
    return () => this.#leave(network);
  }

  #leave(network: string): void {
    const count = this.#perNetwork.get(network)! - 1;
    if (count > 0) this.#perNetwork.set(network, count);
    else this.#perNetwork.delete(network);
    this.#total -= 1;
  }
}
