import { describe, expect, test } from 'vitest';
import { readPixels } from '../src/frame-size.ts';

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
});
