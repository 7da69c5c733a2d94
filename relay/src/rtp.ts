/** The fields of RTP packets that a relay reads and rewrites (RFC 3550, 5.1). */

const HEADER_BYTES = 12;
const VERSION = 2;

export interface RtpHeader {
  readonly payloadType: number;
  /** The marker: of pictures, the last packet of one. */
  readonly isLast: boolean;
  readonly sequence: number;
  readonly ssrc: number;
  /** Where the payload begins. */
  readonly payloadAt: number;
  /** Where the payload ends, and padding begins. */
  readonly payloadEnd: number;
}

/** `undefined`: it is no RTP packet, or one whose lengths contradict each other. */
export function readRtp(packet: Buffer): RtpHeader | undefined {
  if (packet.length < HEADER_BYTES || packet[0]! >> 6 !== VERSION) return undefined;
  const contributors = packet[0]! & 0x0f;
  let payloadAt = HEADER_BYTES + 4 * contributors;
  if (packet[0]! & 0x10) {
    if (packet.length < payloadAt + 4) return undefined;
    payloadAt += 4 + 4 * packet.readUInt16BE(payloadAt + 2);
  }
  const padding = packet[0]! & 0x20 ? packet.at(-1)! : 0;
  const payloadEnd = packet.length - padding;
  if (payloadAt > payloadEnd) return undefined;
  return {
    payloadType: packet[1]! & 0x7f,
    isLast: (packet[1]! & 0x80) !== 0,
    sequence: packet.readUInt16BE(2),
    ssrc: packet.readUInt32BE(8),
    payloadAt,
    payloadEnd,
  };
}

/** A packet of RTCP, which shares the port with RTP (RFC 5761, 4). */
export function isRtcp(packet: Buffer): boolean {
  return packet.length >= 2 && packet[1]! >= 192 && packet[1]! <= 223;
}

/**
 * Numbers and names the packets that one subscriber gets of one kind. Its sequence goes on when the publisher comes
 * back with another, because SRTP takes a number only once.
 */
export class Outgoing {
  readonly #payloadType: number;
  readonly #ssrc: number;
  #source: number | undefined;
  #offset = 0;
  #last = 0;

  constructor(payloadType: number, ssrc: number) {
    this.#payloadType = payloadType;
    this.#ssrc = ssrc;
  }

  /** A copy of the packet, as it is sent. */
  rewrite(packet: Buffer, { ssrc, sequence }: RtpHeader): Buffer {
    if (ssrc !== this.#source) {
      this.#source = ssrc;
      this.#offset = this.#last + 1 - sequence;
    }
    const sent = (sequence + this.#offset) & 0xffff;
    // A late packet keeps its place; the newest decides where another source goes on.
    if (((sent - this.#last) & 0xffff) < 0x8000) this.#last = sent;
    const copy = Buffer.from(packet);
    copy[1] = (copy[1]! & 0x80) | this.#payloadType;
    copy.writeUInt16BE(sent, 2);
    copy.writeUInt32BE(this.#ssrc, 8);
    return copy;
  }
}
