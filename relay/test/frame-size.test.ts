import { describe, expect, test } from 'vitest';
import { FrameSize, type VideoCodec } from '../src/frame-size.ts';

function readPixels(codec: VideoCodec, payload: Buffer): number | undefined {
  const size = new FrameSize(codec);
  return size.take(payload) ? size.pixels : undefined;
}

describe('VP8', () => {
  const keyFrame = [0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0x68, 0x41];

  test.each([
    ['a bare descriptor', [0x10]],
    ['a picture number of 7 bits', [0x90, 0x80, 0x05]],
    ['a picture number of 15 bits, a layer and a key index', [0x90, 0xf0, 0x85, 0x01, 0x02, 0x03]],
  ])('the size of a key frame is read behind %s', (_, descriptor) => {
    // 640 wide; 360 high, with a scale in the upper two bits.
    expect(readPixels('VP8', Buffer.from([...descriptor, ...keyFrame]))).toBe(640 * 360);
  });

  test.each([
    ['a frame between', [0x10, 0x11, ...keyFrame.slice(1)]],
    ['a later packet of a frame', [0x00, ...keyFrame]],
    ['another partition', [0x11, ...keyFrame]],
    ['a key frame that is cut off', [0x10, ...keyFrame.slice(0, 8)]],
    ['a start code that is wrong', [0x10, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2b, 0x80, 0x02, 0x68, 0x01]],
    ['nothing', []],
  ])('%s has none', (_, bytes) => {
    expect(readPixels('VP8', Buffer.from(bytes))).toBeUndefined();
  });
});

describe('H.264', () => {
  // Parameter sets as encoders write them: baseline 640x360, and high 1920x1080 with cropping.
  const baseline = Buffer.from('6742c01ed900a02ff9610000030001000003003c8f162e48', 'hex');
  const high = Buffer.from('67640028acd940780227e5c044000003000400000300f03c60c658', 'hex');

  test.each([
    ['baseline', baseline, 640 * 360],
    ['high, cropped', high, 1920 * 1080],
  ])('the size is read from a parameter set: %s', (_, unit, pixels) => {
    expect(readPixels('H264', unit)).toBe(pixels);
    const aggregated = Buffer.concat([Buffer.from([0x18, 0x00, 0x02, 0x09, 0xf0, 0x00, unit.length]), unit]);
    expect(readPixels('H264', aggregated)).toBe(pixels);
    const fragment = Buffer.concat([Buffer.from([0x7c, 0x87]), unit.subarray(1)]);
    expect(readPixels('H264', fragment)).toBe(pixels);
  });

  test.each([
    ['a slice', Buffer.from([0x65, 1, 2, 3])],
    ['a later fragment', Buffer.concat([Buffer.from([0x7c, 0x07]), baseline.subarray(1)])],
    ['a parameter set that is cut off', baseline.subarray(0, 6)],
    ['an aggregation whose lengths are wrong', Buffer.from([0x18, 0xff, 0xff, 0x67])],
    ['zeros without end', Buffer.concat([Buffer.from([0x67, 66, 0, 30]), Buffer.alloc(64)])],
    ['nothing', Buffer.alloc(0)],
  ])('%s has none', (_, bytes) => {
    expect(readPixels('H264', bytes)).toBeUndefined();
  });

  test('of several parameter sets the largest counts, whichever a picture names', () => {
    const other = Buffer.from(baseline);
    // The id follows the profile as an Exp-Golomb number: 0 is the bit 1, and 1 the bits 010.
    const bits = [...baseline.subarray(4)].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    const renamed = `010${bits.slice(1)}`.padEnd(8 * 20, '0');
    for (let at = 0; 4 + at < other.length; at += 1)
      other[4 + at] = Number.parseInt(renamed.slice(8 * at, 8 * at + 8), 2);
    const size = new FrameSize('H264');
    expect(size.take(high)).toBe('key');
    size.take(other);
    expect(size.pixels).toBe(1920 * 1080);
    // One of the same name takes its place.
    size.take(baseline);
    expect(size.pixels).toBe(640 * 360);
  });
});

describe('what is not forwarded', () => {
  const keyFrame = Buffer.from([0x10, 0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x80, 0x02, 0x68, 0x41]);

  test('pictures before the first key frame, which nothing could decode', () => {
    const size = new FrameSize('VP8');
    expect(size.take(Buffer.from([0x10, 0x11, 1, 2]))).toBeUndefined();
    expect(size.take(keyFrame)).toBe('key');
    expect(size.take(Buffer.from([0x10, 0x11, 1, 2]))).toBe('other');
  });

  test('a key frame that is split so that its size cannot be read', () => {
    const size = new FrameSize('VP8');
    size.take(keyFrame);
    expect(size.take(keyFrame.subarray(0, 8))).toBeUndefined();
    expect(size.take(Buffer.of(0x10))).toBeUndefined();
    const sets = new FrameSize('H264');
    sets.take(Buffer.from('6742c01ed900a02ff9610000030001000003003c8f162e48', 'hex'));
    expect(sets.take(Buffer.from([0x7c, 0x87, 0x64, 0x00]))).toBeUndefined();
    expect(sets.take(Buffer.from([0x65, 1, 2, 3]))).toBe('other');
  });
});
