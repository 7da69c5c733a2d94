/** How much one participant may send, over all of its connections. */

/** Small packets cost as much work as others. */
const PACKET_BYTES_MIN = 200;

export class Allowance {
  readonly #bitrate: number;
  readonly #burst: number;
  #left: number;
  #at = performance.now();

  /** `bitrate`: bits a second; twice that for a second, because browsers send more after a key frame. */
  constructor(bitrate: number) {
    this.#bitrate = bitrate;
    this.#burst = (2 * bitrate) / 8;
    this.#left = this.#burst;
  }

  /** Returns whether a packet of so many bytes is allowed. */
  take(bytes: number): boolean {
    const now = performance.now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#at) * this.#bitrate) / 8_000);
    this.#at = now;
    const cost = Math.max(bytes, PACKET_BYTES_MIN);
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }
}
