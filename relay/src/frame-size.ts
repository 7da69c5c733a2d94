/**
 * The size of a picture, read from the key frames that are forwarded. What the publisher says of it elsewhere is not
 * asked: the decoder reads the same bits, so they cannot claim a smaller picture than is shown.
 */
import { BitReader } from './bit-reader.ts';
import { readVp8Descriptor } from './vp8.ts';

export type VideoCodec = 'VP8' | 'H264';

/** The size of the pictures of one stream. */
export class FrameSize {
  readonly #codec: VideoCodec;
  /** By parameter set: a key frame names the one that it has. VP8 has no names. */
  readonly #sizes = new Map<number, number>();
  /** Width times height of the largest picture that the stream can have now; 0 before the first key frame. */
  pixels = 0;

  constructor(codec: VideoCodec) {
    this.#codec = codec;
  }

  /**
   * Reads a payload. `key`: a key frame begins in it. `undefined`: it is not to be forwarded, because it hides its size, or nothing
   * before it could be decoded.
   */
  take(payload: Buffer): 'key' | 'other' | undefined {
    const sizes = this.#codec === 'VP8' ? readVp8(payload) : readH264(payload);
    if (!sizes) return undefined;
    for (const { id, pixels } of sizes) this.#sizes.set(id, pixels);
    if (sizes.length > 0) this.pixels = Math.max(...this.#sizes.values());
    if (this.pixels === 0) return undefined;
    return sizes.length > 0 ? 'key' : 'other';
  }
}

interface Size {
  readonly id: number;
  readonly pixels: number;
}

const NO_SIZE: readonly Size[] = [];

/** The header of a frame (RFC 6386, 9.1). */
function readVp8(payload: Buffer): readonly Size[] | undefined {
  const { beginsFrame, frameAt: at } = readVp8Descriptor(payload);
  if (!beginsFrame) return NO_SIZE;
  const begin = payload[at];
  if (begin === undefined) return undefined;
  const isKeyFrame = (begin & 1) === 0;
  if (!isKeyFrame) return NO_SIZE;
  if (payload.length < at + 10 || payload.readUIntBE(at + 3, 3) !== 0x9d012a) return undefined;
  const [width, height] = [payload.readUInt16LE(at + 6) & 0x3fff, payload.readUInt16LE(at + 8) & 0x3fff];
  return [{ id: 0, pixels: width * height }];
}

const SPS = 7;
const SPS_ID_MAX = 31;
const STAP_A = 24;
const FU_A = 28;

/** The sequence parameter sets of a packet: alone, in an aggregation, or the first fragment (RFC 6184, 5). */
function readH264(payload: Buffer): readonly Size[] | undefined {
  const type = (payload[0] ?? 0) & 0x1f;
  if (type === SPS) return readAll([payload]);
  if (type === FU_A) {
    const isFirst = ((payload[1] ?? 0) & 0x80) !== 0;
    return isFirst && (payload[1]! & 0x1f) === SPS ? readAll([payload.subarray(1)]) : NO_SIZE;
  }
  if (type !== STAP_A) return NO_SIZE;
  const sets: Buffer[] = [];
  for (let at = 1; at + 2 < payload.length; ) {
    const length = payload.readUInt16BE(at);
    const unit = payload.subarray(at + 2, at + 2 + length);
    if (((unit[0] ?? 0) & 0x1f) === SPS) sets.push(unit);
    at += 2 + length;
  }
  return readAll(sets);
}

/** `undefined`: one of them cannot be read. Each has a byte before it that says what it is. */
function readAll(sets: readonly Buffer[]): readonly Size[] | undefined {
  const sizes = sets.map((set) => readSps(set.subarray(1)));
  return sizes.every((size) => size !== undefined) ? sizes : undefined;
}

/** Profiles whose parameter sets tell of chroma (ITU-T H.264, 7.3.2.1.1). */
const HIGH_PROFILES = [100, 110, 122, 244, 44, 83, 86, 118, 128];

/** Width times height of a sequence parameter set, without what is cropped. `undefined`: it ends too early. */
function readSps(bytes: Buffer): Size | undefined {
  try {
    return sizeOf(new BitReader(bytes));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function sizeOf(bits: BitReader): Size {
  const profile = bits.read(8);
  bits.read(16);
  const id = bits.readUnsigned();
  if (id > SPS_ID_MAX) throw new RangeError('there is no such parameter set');
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
  return { id, pixels: Math.max(0, width) * Math.max(0, height) };
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
