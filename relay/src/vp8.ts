/** What stands in front of a VP8 frame in each packet (RFC 7741, 4.2). */

export interface Vp8Descriptor {
  /** The packet is the first one of a frame. */
  readonly beginsFrame: boolean;
  /** Where the picture number of 15 bits stands in the payload, if there is one. */
  readonly pictureAt: number | undefined;
  /** Where the frame stands in the payload, if that is long enough. */
  readonly frameAt: number;
}

export function readVp8Descriptor(payload: Buffer): Vp8Descriptor {
  const first = payload[0] ?? 0;
  const beginsFrame = (first & 0x10) !== 0 && (first & 0x07) === 0;
  let frameAt = 1;
  let pictureAt: number | undefined;
  if (first & 0x80) {
    const extension = payload[frameAt++] ?? 0;
    if (extension & 0x80) {
      const isLong = ((payload[frameAt] ?? 0) & 0x80) !== 0;
      if (isLong && frameAt + 2 <= payload.length) pictureAt = frameAt;
      frameAt += isLong ? 2 : 1;
    }
    if (extension & 0x40) frameAt += 1;
    if (extension & 0x30) frameAt += 1;
  }
  return { beginsFrame, pictureAt, frameAt };
}
