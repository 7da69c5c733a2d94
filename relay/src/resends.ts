/**
 * What a subscriber misses is sent again (RFC 4585, 6.2.1), and counted like the first time. There are never more of these
 * packets than of first ones: a short question could ask for a thousand.
 */
const KEPT = 512;

export class Resends {
  /** The newest packets, by sequence number. */
  readonly #kept: (Buffer | undefined)[] = new Array(KEPT);
  #allowed = 0;

  /** `packet`: of RTP, as it was sent. */
  keep(packet: Buffer): void {
    this.#kept[packet.readUInt16BE(2) % KEPT] = packet;
    this.#allowed = Math.min(KEPT, this.#allowed + 1);
  }

  /** The packet with this number, unless it is too old or there were too many. */
  take(sequence: number): Buffer | undefined {
    const packet = this.#kept[sequence % KEPT];
    if (this.#allowed === 0 || packet?.readUInt16BE(2) !== sequence) return undefined;
    this.#allowed -= 1;
    return packet;
  }
}
