/**
 * What one subscriber gets of one kind, in numbers of its own. They go on when another source takes over, and after a pause: SRTP takes
 * a sequence number only once, and a browser drops pictures whose number and time are both before those of the last one.
 */
import type { Codec } from './offer.ts';
import type { RtpHeader } from './rtp.ts';

export class Outgoing {
  readonly #codec: Codec;
  readonly #ssrc: number;
  /** The sender whose packets it numbers now. */
  #source: number | undefined;
  #sentAt = performance.now();
  readonly #sequences = new Series(16);
  readonly #times = new Series(32);
  readonly #pictures = new Series(15);

  /** `ssrc`: of what is sent. */
  constructor(codec: Codec, ssrc: number) {
    this.#codec = codec;
    this.#ssrc = ssrc;
  }

  /** Whether the packets of this sender go on. Otherwise its next one begins anew. */
  follows(ssrc: number): boolean {
    return this.#source === ssrc;
  }

  pause(): void {
    this.#source = undefined;
  }

  /**
   * A copy of the packet, as it is sent. `undefined`: it is older than the first one of its source. `pictureAt`: where the packet has a
   * picture number of VP8, of 15 bits.
   */
  rewrite(packet: Buffer, header: RtpHeader, pictureAt: number | undefined): Buffer | undefined {
    const now = performance.now();
    const picture = pictureAt === undefined ? undefined : packet.readUInt16BE(pictureAt) & 0x7fff;
    if (!this.follows(header.ssrc)) {
      const ticks = Math.ceil(((now - this.#sentAt) * clockOf(this.#codec)) / 1000);
      this.#source = header.ssrc;
      this.#sequences.goOn(header.sequence, 1);
      this.#times.goOn(header.time, Math.max(1, ticks));
      if (picture !== undefined) this.#pictures.goOn(picture, 1);
    }
    if (!this.#sequences.reach(header.sequence)) return undefined;
    this.#sentAt = now;
    const copy = Buffer.from(packet);
    copy[1] = (copy[1]! & 0x80) | this.#codec.payloadType;
    copy.writeUInt16BE(this.#sequences.take(header.sequence), 2);
    copy.writeUInt32BE(this.#times.take(header.time), 4);
    copy.writeUInt32BE(this.#ssrc, 8);
    if (picture !== undefined) copy.writeUInt16BE(0x8000 | this.#pictures.take(picture), pictureAt);
    return copy;
  }
}

/** Ticks of RTP's time in a second (RFC 7587, RFC 7741, RFC 6184). */
const clockOf = ({ name }: Codec) => (name === 'opus' ? 48_000 : 90_000);

/** Numbers of this many bits, which begin again at 0 after the largest one. */
class Series {
  readonly #largest: number;
  /** What is added to the numbers of the source. */
  #offset = 0;
  #newest = 0;
  /** From the first number of the source to the newest. */
  #length = 0;

  constructor(bits: number) {
    this.#largest = 2 ** bits - 1;
  }

  /** `first`, of another source, comes `step` after the newest. */
  goOn(first: number, step: number): void {
    this.#newest = this.#wrap(this.#newest + step);
    this.#offset = this.#newest - first;
    this.#length = 0;
  }

  /** Whether a number is not before the first of its source. */
  reach(number: number): boolean {
    const behind = this.#wrap(this.#newest - number - this.#offset);
    return behind <= this.#length || behind > this.#largest / 2;
  }

  /** A late one keeps its place; the newest decides where another source goes on. */
  take(number: number): number {
    const taken = this.#wrap(number + this.#offset);
    const ahead = this.#wrap(taken - this.#newest);
    if (ahead <= this.#largest / 2) {
      this.#newest = taken;
      this.#length += ahead;
    }
    return taken;
  }

  #wrap(number: number): number {
    return (number & this.#largest) >>> 0;
  }
}
