/** Counts what comes of one sender, as its reports are answered (RFC 3550, 6.4 and A.3). */
import type { Received } from './rtcp.ts';

export class Reception {
  readonly #ssrc: number;
  readonly #first: number;
  #highest: number;
  #received = 0;
  #before = { expected: 0, received: 0 };

  /** `first`: the sequence number of the first packet. */
  constructor(ssrc: number, first: number) {
    this.#ssrc = ssrc;
    this.#first = first;
    this.#highest = first;
  }

  take(sequence: number): void {
    this.#received += 1;
    const ahead = (sequence - this.#highest) & 0xffff;
    // Otherwise it is late.
    if (ahead < 0x8000) this.#highest += ahead;
  }

  /** What has come since the last report, and in all. */
  report(): Received {
    const expected = this.#highest - this.#first + 1;
    const due = expected - this.#before.expected;
    const missing = due - (this.#received - this.#before.received);
    this.#before = { expected, received: this.#received };
    return {
      ssrc: this.#ssrc,
      lostOf256: missing > 0 ? Math.min(255, Math.floor((256 * missing) / due)) : 0,
      lost: expected - this.#received,
      highest: this.#highest,
    };
  }
}
