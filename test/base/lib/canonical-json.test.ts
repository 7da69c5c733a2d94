import { describe, expect, test } from 'vitest';
import { canonicalJson, parseExactJson } from '../../../src/base/lib/canonical-json.ts';

describe('canonical JSON', () => {
  test('has its members in the order of their names, at every level, and no spaces', () => {
    const value = { b: [{ d: 1, c: null }, 'x'], a: { '\u20ac': true, '\r': false, ö: 'ü' } };
    expect(canonicalJson(value)).toBe('{"a":{"\\r":false,"ö":"ü","€":true},"b":[{"c":null,"d":1},"x"]}');
  });

  test('leaves out members that are undefined', () => {
    expect(canonicalJson({ a: undefined, b: 0n })).toBe('{"b":0}');
  });

  test('keeps integers exact, however large', () => {
    const text = '{"large":-92233720368547758080,"small":7}';
    expect(parseExactJson(text)).toEqual({ large: -92233720368547758080n, small: 7n });
    expect(canonicalJson(parseExactJson(text))).toBe(text);
  });

  test.each(['1.5', '[1e3]', '{"a":0.1}', '{', ''])('%j is refused', (text) => {
    expect(() => parseExactJson(text)).toThrow(SyntaxError);
  });

  test('a number that is no safe integer is a mistake', () => {
    expect(() => canonicalJson({ a: 2 ** 53 })).toThrow('assertion failed');
  });
});
