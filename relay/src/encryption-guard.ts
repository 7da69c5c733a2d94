/**
 * Keeps plain media out of a room that requires end-to-end encryption, as far as a relay can tell: each encrypted frame ends
 * with the mark of the format (docs/encryption.md). It stops a client that forgot to encrypt, not one that forges the mark.
 */
import type { RtpHeader } from './rtp.ts';

/** What devices say in `encryption` when they publish with this format. */
export const ENCRYPTION_FORMAT = '1';

const MARK = 0xe2ee;

/** One layer at the bit rate that is allowed has no larger pictures. */
const HELD_MAX = 1_000;

export interface Packet {
  readonly bytes: Buffer;
  readonly header: RtpHeader;
}

export class EncryptionGuard {
  /** Those of a first frame whose end has not come; `undefined`: a frame has ended with the mark. */
  #held: Packet[] | undefined = [];

  /**
   * What may be forwarded now. `undefined`: the packet is the end of a frame that is not encrypted. `isWhole`: each packet is
   * a frame, as with Opus.
   */
  pass(packet: Packet, isWhole: boolean): readonly Packet[] | undefined {
    const { bytes, header } = packet;
    const endsFrame = (header.isLast || isWhole) && header.payloadEnd - header.payloadAt >= 2;
    if (endsFrame && bytes.readUInt16BE(header.payloadEnd - 2) !== MARK) return undefined;
    if (!this.#held) return [packet];
    this.#held.push(packet);
    if (!endsFrame) {
      if (this.#held.length > HELD_MAX) this.#held.shift();
      return [];
    }
    const held = this.#held;
    this.#held = undefined;
    return held;
  }
}
