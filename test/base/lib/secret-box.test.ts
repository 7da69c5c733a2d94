import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SecretBox } from '../../../src/base/lib/secret-box.ts';

const key = randomBytes(32);
const box = new SecretBox(key);

describe('SecretBox', () => {
  test('opens what it sealed', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.string(), (bytes, context) => {
        const secret = Buffer.from(bytes);
        const sealed = box.seal(secret, context);
        expect(sealed).toHaveLength(secret.length + 28);
        expect(new SecretBox(Buffer.from(key)).open(sealed, context)).toStrictEqual(secret);
      }),
    );
  });

  test('seals the same secret differently each time', () => {
    const sealed = Array.from({ length: 100 }, () => box.seal(Buffer.from('secret'), 'x').toString('hex'));
    expect(new Set(sealed).size).toBe(100);
  });

  test('opens nothing with a changed bit', () => {
    const sealed = box.seal(Buffer.from('a secret'), 'key-1');
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => box.open(changed, 'key-1'), `bit ${bit}`).toThrow();
    }
  });

  test('opens nothing that was truncated or extended', () => {
    const sealed = box.seal(Buffer.from('a secret'), 'key-1');
    for (let length = 0; length < sealed.length; length += 1) {
      expect(() => box.open(sealed.subarray(0, length), 'key-1')).toThrow();
    }
    expect(() => box.open(Buffer.concat([sealed, Buffer.alloc(1)]), 'key-1')).toThrow();
  });

  test('opens nothing with another key or in another context', () => {
    const sealed = box.seal(Buffer.from('a secret'), 'key-1');
    expect(() => new SecretBox(randomBytes(32)).open(sealed, 'key-1')).toThrow();
    expect(() => box.open(sealed, 'key-2')).toThrow();
    expect(() => box.open(sealed, '')).toThrow();
  });

  test('opens with a second key what that one has sealed, and seals with the first', () => {
    const [first, second] = [randomBytes(32), randomBytes(32)];
    const [one, other, both] = [new SecretBox(first), new SecretBox(second), new SecretBox(first, second)];
    const sealed = other.seal(Buffer.from('a secret'), 'x');
    expect(String(both.open(sealed, 'x'))).toBe('a secret');
    expect(() => both.open(sealed, 'y')).toThrow();
    expect([one, other, both].map((each) => each.isSealedByKey(sealed, 'x'))).toEqual([false, true, false]);
    expect(String(one.open(both.seal(Buffer.from('a secret'), 'x'), 'x'))).toBe('a secret');
    expect([both.keyName === one.keyName, both.keyName === other.keyName]).toEqual([true, false]);
  });
});
