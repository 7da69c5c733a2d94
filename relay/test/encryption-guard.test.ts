import { expect, test } from 'vitest';
import { EncryptionGuard, type Packet } from '../src/encryption-guard.ts';

/** A packet with this payload. `isLast`: the last one of a picture. */
function packet(payload: readonly number[], isLast: boolean): Packet {
  const bytes = Buffer.from([...Buffer.alloc(12), ...payload]);
  const numbers = { payloadType: 96, sequence: 1, time: 0, ssrc: 1 };
  const header = { ...numbers, isLast, payloadAt: 12, payloadEnd: bytes.length };
  return { bytes, header };
}

const MARKED = [1, 0xe2, 0xee];

test('the first picture is held until its end has the mark', () => {
  const guard = new EncryptionGuard();
  const [first, last, next] = [packet([1, 2], false), packet(MARKED, true), packet([3, 4], false)];
  expect(guard.pass(first, false)).toEqual([]);
  expect(guard.pass(last, false)).toEqual([first, last]);
  expect(guard.pass(next, false)).toEqual([next]);
});

test('a picture whose end has no mark is refused, whatever came before', () => {
  const guard = new EncryptionGuard();
  expect(guard.pass(packet([1, 2, 3], true), false)).toBeUndefined();
  expect(guard.pass(packet(MARKED, true), false)).toHaveLength(1);
  expect(guard.pass(packet([1, 2, 3], true), false)).toBeUndefined();
});

test('each packet of sound is looked at', () => {
  const guard = new EncryptionGuard();
  expect(guard.pass(packet(MARKED, false), true)).toHaveLength(1);
  expect(guard.pass(packet([1, 2, 3], false), true)).toBeUndefined();
});

test('padding alone opens nothing, and a picture without an end fills no memory', () => {
  const guard = new EncryptionGuard();
  expect(guard.pass(packet([], true), false)).toEqual([]);
  for (let count = 0; count < 2_000; count += 1) guard.pass(packet([1, 2], false), false);
  expect(guard.pass(packet(MARKED, true), false)).toHaveLength(1_001);
});
