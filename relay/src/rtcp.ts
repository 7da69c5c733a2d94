/** Packets of RTCP: what a relay reads in them, and what it says itself (RFC 3550, 6; RFC 4585; RFC 5104). */

const SENDER_REPORT = 200;
const RECEIVER_REPORT = 201;
const TRANSPORT_FEEDBACK = 205;
const GENERIC_NACK = 1;
const PAYLOAD_FEEDBACK = 206;
const PICTURE_LOSS = 1;
const FULL_INTRA_REQUEST = 4;
const APPLICATION_LAYER = 15;

/** Who the relay is, when it says something. It sends no media with this number. */
const OWN_SSRC = 1;

/** It shares the port with RTP (RFC 5761, 4). */
export function isRtcp(packet: Buffer): boolean {
  return packet.length >= 2 && packet[1]! >= 192 && packet[1]! <= 223;
}

/** What the receiver of media asks for. */
export interface Feedback {
  /** The media that it is about. */
  readonly ssrc: number;
  /** Sequence numbers, to be sent again. `undefined`: it asks for a key frame. */
  readonly missing: readonly number[] | undefined;
}

/** What is asked for in joined packets. One whose length is wrong ends them. */
export function* feedbackIn(packet: Buffer): Generator<Feedback> {
  for (let at = 0, end: number; at + 12 <= packet.length; at = end) {
    end = at + 4 * (packet.readUInt16BE(at + 2) + 1);
    if (end > packet.length) return;
    const [type, format] = [packet[at + 1], packet[at]! & 0x1f];
    const part = packet.subarray(at, end);
    if (part.length < 12) continue;
    const ssrc = part.readUInt32BE(8);
    if (type === TRANSPORT_FEEDBACK && format === GENERIC_NACK) yield { ssrc, missing: missingIn(part) };
    if (type !== PAYLOAD_FEEDBACK) continue;
    if (format === PICTURE_LOSS) yield { ssrc, missing: undefined };
    // It names the media in its entries.
    if (format === FULL_INTRA_REQUEST && part.length >= 20)
      yield { ssrc: part.readUInt32BE(12), missing: undefined };
  }
}

function missingIn(nack: Buffer): number[] {
  const missing = [];
  for (let entry = 12; entry + 4 <= nack.length; entry += 4) {
    const first = nack.readUInt16BE(entry);
    const others = nack.readUInt16BE(entry + 2);
    missing.push(first);
    for (let bit = 0; bit < 16; bit += 1) if (others & (1 << bit)) missing.push((first + bit + 1) & 0xffff);
  }
  return missing;
}

export interface SenderReport {
  readonly ssrc: number;
  /** The middle half of the time of the report, as the answer repeats it. */
  readonly sentAt: number;
}

/** The report of a sender, with which joined packets begin. */
export function senderReportIn(packet: Buffer): SenderReport | undefined {
  if (packet.length < 28 || packet[1] !== SENDER_REPORT) return undefined;
  return { ssrc: packet.readUInt32BE(4), sentAt: packet.readUInt32BE(10) };
}

/** What has come of one sender. */
export interface Received {
  readonly ssrc: number;
  /** Packets that are missing: of 256 since the last report, and of all. */
  readonly lostOf256: number;
  readonly lost: number;
  /** The highest sequence number, counted on when it begins again. */
  readonly highest: number;
}

/** The answer to a sender's report, at once, joined with the bit rate that it may send at most (REMB). */
export function receiverReport(
  { ssrc, lostOf256, lost, highest }: Received,
  sentAt: number,
  bitrate: number,
): Buffer {
  const packet = Buffer.alloc(32 + 24);
  packet.set([0x81, RECEIVER_REPORT, 0, 7]);
  packet.writeUInt32BE(OWN_SSRC, 4);
  packet.writeUInt32BE(ssrc, 8);
  packet[12] = lostOf256;
  packet.writeIntBE(Math.max(-0x80_0000, Math.min(0x7f_ffff, lost)), 13, 3);
  packet.writeUInt32BE(highest >>> 0, 16);
  packet.writeUInt32BE(sentAt, 24);
  packet.set([0x80 | APPLICATION_LAYER, PAYLOAD_FEEDBACK, 0, 5], 32);
  packet.writeUInt32BE(OWN_SSRC, 36);
  packet.write('REMB', 44, 'latin1');
  const exponent = Math.max(0, 32 - Math.clz32(bitrate) - 18);
  packet.writeUInt32BE(0x0100_0000 + exponent * 0x4_0000 + Math.floor(bitrate / 2 ** exponent), 48);
  packet.writeUInt32BE(ssrc, 52);
  return packet;
}

/** A request for a key frame. */
export function pictureLoss(ssrc: number): Buffer {
  const packet = Buffer.alloc(12);
  packet.set([0x80 | PICTURE_LOSS, PAYLOAD_FEEDBACK, 0, 2]);
  packet.writeUInt32BE(OWN_SSRC, 4);
  packet.writeUInt32BE(ssrc, 8);
  return packet;
}
