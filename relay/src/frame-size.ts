/**
 * The size of a picture, read from the key frames that are forwarded. What the publisher says of it elsewhere is not
 * asked: the decoder reads the same bits, so they cannot claim a smaller picture than is shown.
 */
import { BitReader } from './bit-reader.ts';

export type VideoCodec = 'VP8' | 'H264';

/** Width times height, of the packet that begins a key frame; `undefined` for any other packet. */
export function readPixels(codec: VideoCodec, payload: Buffer): number | undefined {
  return codec === 'VP8' ? readVp8(payload) : readH264(payload);
}

/** The payload descriptor (RFC 7741, 4.2), and behind it the header of the frame (RFC 6386, 9.1). */
function readVp8(payload: Buffer): number | undefined {
  const first = payload[0];
  if (first === undefined) return undefined;
  const beginsFrame = (first & 0x10) !== 0 && (first & 0x07) === 0;
  if (!beginsFrame) return undefined;
  let at = 1;
  if (first & 0x80) {
    const extension = payload[at++] ?? 0;
    if (extension & 0x80) at += (payload[at] ?? 0) & 0x80 ? 2 : 1;
    if (extension & 0x40) at += 1;
    if (extension & 0x30) at += 1;
  }
  if (payload.length < at + 10) return undefined;
  const isKeyFrame = (payload[at]! & 1) === 0;
  const hasStartCode = payload.readUIntBE(at + 3, 3) === 0x9d012a;
  if (!isKeyFrame || !hasStartCode) return undefined;
  return (payload.readUInt16LE(at + 6) & 0x3fff) * (payload.readUInt16LE(at + 8) & 0x3fff);
}

const SPS = 7;
const STAP_A = 24;
const FU_A = 28;

/** The first sequence parameter set of a packet: alone, in an aggregation, or the first fragment (RFC 6184, 5). */
function readH264(payload: Buffer): number | undefined {
  const type = (payload[0] ?? 0) & 0x1f;
  if (type === SPS) return readSps(payload.subarray(1));
  if (type === FU_A) {
    const isFirst = ((payload[1] ?? 0) & 0x80) !== 0;
    return isFirst && (payload[1]! & 0x1f) === SPS ? readSps(payload.subarray(2)) : undefined;
  }
  if (type !== STAP_A) return undefined;
  for (let at = 1; at + 2 < payload.length; ) {
    const length = payload.readUInt16BE(at);
    const unit = payload.subarray(at + 2, at + 2 + length);
    if (((unit[0] ?? 0) & 0x1f) === SPS) return readSps(unit.subarray(1));
    at += 2 + length;
  }
  return undefined;
}

/** Profiles whose parameter sets tell of chroma (ITU-T H.264, 7.3.2.1.1). */
const HIGH_PROFILES = [100, 110, 122, 244, 44, 83, 86, 118, 128];

/** Width times height of a sequence parameter set, without what is cropped. `undefined`: it ends too early. */
function readSps(bytes: Buffer): number | undefined {
  try {
    return pixelsOf(new BitReader(bytes));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function pixelsOf(bits: BitReader): number {
  const profile = bits.read(8);
  bits.read(16);
  bits.readUnsigned();
  let chroma = 1;
  if (HIGH_PROFILES.includes(profile)) {
    chroma = bits.readUnsigned();
    if (chroma === 3) bits.read(1);
    bits.readUnsigned();
    bits.readUnsigned();
    bits.read(1);
    if (bits.read(1)) skipScalingLists(bits, chroma === 3 ? 12 : 8);
  }
  bits.readUnsigned();
  skipPictureOrder(bits);
  bits.readUnsigned();
  bits.read(1);
  const widthInBlocks = bits.readUnsigned() + 1;
  const heightInUnits = bits.readUnsigned() + 1;
  const framesOnly = bits.read(1);
  if (!framesOnly) bits.read(1);
  bits.read(1);
  const [left, right, top, bottom] = bits.read(1)
    ? [bits.readUnsigned(), bits.readUnsigned(), bits.readUnsigned(), bits.readUnsigned()]
    : [0, 0, 0, 0];
  const stepX = chroma === 1 || chroma === 2 ? 2 : 1;
  const stepY = (chroma === 1 ? 2 : 1) * (2 - framesOnly);
  const width = widthInBlocks * 16 - stepX * (left + right);
  const height = heightInUnits * 16 * (2 - framesOnly) - stepY * (top + bottom);
  return Math.max(0, width) * Math.max(0, height);
}

function skipScalingLists(bits: BitReader, lists: number): void {
  for (let list = 0; list < lists; list += 1) {
    if (!bits.read(1)) continue;
    let next = 8;
    for (let entry = 0; entry < (list < 6 ? 16 : 64) && next !== 0; entry += 1) {
      next = (next + bits.readSigned() + 256) % 256;
    }
  }
}

function skipPictureOrder(bits: BitReader): void {
  const kind = bits.readUnsigned();
  if (kind === 0) bits.readUnsigned();
  if (kind !== 1) return;
  bits.read(1);
  bits.readSigned();
  bits.readSigned();
  const cycle = bits.readUnsigned();
  for (let frame = 0; frame < cycle; frame += 1) bits.readSigned();
}
