/** The fields of RTP packets that a relay reads (RFC 3550, 5.1). */

const HEADER_BYTES = 12;
const VERSION = 2;

export interface RtpHeader {
  readonly payloadType: number;
  /** The marker: of pictures, the last packet of one. */
  readonly isLast: boolean;
  readonly sequence: number;
  /** Ticks of the clock of its codec. */
  readonly time: number;
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
    time: packet.readUInt32BE(4),
    ssrc: packet.readUInt32BE(8),
    payloadAt,
    payloadEnd,
  };
}
