import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FrameSize } from '../src/frame-size.ts';
import { Resends } from '../src/resends.ts';
import { isRtcp } from '../src/rtcp.ts';
import { readRtp } from '../src/rtp.ts';
import { packet } from './packet.ts';

describe('readRtp', () => {
  test('finds the payload behind contributors and extensions, and before padding', () => {
    const contributor = [0, 0, 0, 5];
    const extension = [0xbe, 0xde, 0, 1, 9, 9, 9, 9];
    const found = readRtp(packet({ first: 0xb1, rest: [...contributor, ...extension, 42, 0, 2] }));
    expect(found).toStrictEqual({
      payloadType: 96,
      isLast: false,
      sequence: 7,
      time: 0,
      ssrc: 99,
      payloadAt: 24,
      payloadEnd: 25,
    });
  });

  test.each([
    ['is too short', packet().subarray(0, 11)],
    ['is of another version', packet({ first: 0x40 })],
    ['has an extension that is cut off', packet({ first: 0x90, rest: [0xbe, 0xde] })],
    ['has an extension longer than itself', packet({ first: 0x90, rest: [0xbe, 0xde, 0, 9] })],
    ['has more padding than payload', packet({ first: 0xa0, rest: [1, 200] })],
    ['is empty', Buffer.alloc(0)],
  ])('refuses what %s', (_, bytes) => {
    expect(readRtp(bytes)).toBeUndefined();
  });
});

test('reports of receivers are told from media', () => {
  expect(isRtcp(Buffer.from([0x81, 201, 0, 7]))).toBe(true);
  expect(isRtcp(packet())).toBe(false);
});

test('no bytes make the readers fail', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      const packet = Buffer.from(bytes);
      const header = readRtp(packet);
      for (const codec of ['VP8', 'H264'] as const) {
        for (const first of [0x10, 0x67, 0x18, 0x7c])
          new FrameSize(codec).take(Buffer.from([first, ...packet]));
      }
      return header === undefined || header.payloadAt <= header.payloadEnd;
    }),
  );
});

test('what a subscriber misses is sent again while it is kept, and never more often than there were packets', () => {
  const resends = new Resends();
  for (let sequence = 0; sequence < 3; sequence += 1) resends.keep(packet({ sequence }));
  const taken = Array.from({ length: 9 }, () => resends.take(1));
  expect(taken.filter((each) => each !== undefined)).toHaveLength(3);
  for (let sequence = 3; sequence < 600; sequence += 1) resends.keep(packet({ sequence }));
  expect(resends.take(1)).toBeUndefined();
  expect(resends.take(599)).toStrictEqual(packet({ sequence: 599 }));
  expect(resends.take(513 + 599)).toBeUndefined();
});
