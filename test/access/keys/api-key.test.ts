import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hashKey, isKeyId, keyIdOf, newKey, secretMatches } from '../../../src/access/keys/api-key.ts';

const ID = '0123456789abcdef';
const SECRET = 'A'.repeat(43);

describe('newKey', () => {
  test('has the form of the specification, and 256 random bits', () => {
    const keys = Array.from({ length: 100 }, () => newKey('svc'));
    for (const { id, plaintext, hash } of keys) {
      expect(plaintext).toMatch(new RegExp(`^svc_${id}_[A-Za-z0-9_-]{43}$`));
      expect(Buffer.from(plaintext.slice(21), 'base64url')).toHaveLength(32);
      expect(hash).toStrictEqual(createHash('sha256').update(plaintext).digest());
      expect(keyIdOf(plaintext, 'svc')).toBe(id);
    }
    expect(new Set(keys.map((key) => key.id)).size).toBe(100);
    expect(new Set(keys.map((key) => key.plaintext.slice(21))).size).toBe(100);
  });
});

describe('keyIdOf', () => {
  test.each([
    [`svc_${ID}_${SECRET}`, ID],
    [`svc_${ID}_${'_'.repeat(43)}`, ID],
    [`svc_${ID}_${'-'.repeat(43)}`, ID],
    ['', undefined],
    [`svc_${ID}`, undefined],
    [`svc_${ID}_`, undefined],
    [`svc_${ID}_${SECRET}A`, undefined],
    [`svc_${ID}_${SECRET.slice(1)}`, undefined],
    [`svc_${ID}_${SECRET.slice(1)}=`, undefined],
    [`svc_${ID}_${SECRET.slice(1)}+`, undefined],
    [`svc_${ID.toUpperCase()}_${SECRET}`, undefined],
    [`svc_${ID}0_${SECRET}`, undefined],
    [`dev_${ID}_${SECRET}`, undefined],
    [`SVC_${ID}_${SECRET}`, undefined],
    [`_${ID}_${SECRET}`, undefined],
    [` svc_${ID}_${SECRET}`, undefined],
    [`svc_${ID}_${SECRET}\n`, undefined],
    [`x\nsvc_${ID}_${SECRET}`, undefined],
  ])('of %j', (text, id) => {
    expect(keyIdOf(text, 'svc')).toBe(id);
  });
});

describe('isKeyId', () => {
  test.each([
    [ID, true],
    [ID.toUpperCase(), false],
    [ID.slice(1), false],
    [`${ID}0`, false],
    [`${ID}\n`, false],
    [`${ID.slice(1)}\0`, false],
    ['', false],
  ])('%j: %s', (text, expected) => {
    expect(isKeyId(text)).toBe(expected);
  });
});

describe('secretMatches', () => {
  const { plaintext, hash } = newKey('svc');

  test('is true only for the exact key', () => {
    expect(secretMatches(plaintext, hash)).toBe(true);
    expect(secretMatches(`${plaintext} `, hash)).toBe(false);
    expect(secretMatches(newKey('svc').plaintext, hash)).toBe(false);
    expect(secretMatches(plaintext, undefined)).toBe(false);
    expect(secretMatches(plaintext, Buffer.alloc(32))).toBe(false);
  });

  test('the hash covers the prefix and the id', () => {
    expect(hashKey(plaintext)).not.toStrictEqual(hashKey(plaintext.slice(21)));
  });
});
