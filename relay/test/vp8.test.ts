import { expect, test } from 'vitest';
import { readVp8Descriptor } from '../src/vp8.ts';

test.each([
  ['bare', [0x10], undefined, 1],
  ['with a picture number of 7 bits', [0x90, 0x80, 0x05], undefined, 3],
  ['with a picture number of 15 bits', [0x90, 0x80, 0x85, 0x01], 2, 4],
  ['with all fields', [0x90, 0xf0, 0x85, 0x01, 0x02, 0x03], 2, 6],
  ['with a layer alone', [0x90, 0x20, 0x03], undefined, 3],
])('a descriptor is read: %s', (_, descriptor, pictureAt, frameAt) => {
  expect(readVp8Descriptor(Buffer.from([...descriptor, 0x11]))).toStrictEqual({
    beginsFrame: true,
    pictureAt,
    frameAt,
  });
});

test('a picture number that is cut off is none', () => {
  expect(readVp8Descriptor(Buffer.from([0x90, 0x80, 0x85])).pictureAt).toBeUndefined();
});
