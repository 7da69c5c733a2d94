import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonError, parseStrictJson } from '../../../src/base/lib/strict-json.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string) => parseStrictJson(bytes(text));
const faultOf = (input: Uint8Array) => {
  try {
    parseStrictJson(input);
  } catch (error) {
    if (error instanceof JsonError) return error.message;
    throw error;
  }
  return undefined;
};
const wide = (members: number) =>
  `[{"a":{}},{${Array.from({ length: members }, (_, at) => `"k${at}":{"b":1}`).join(',')}}]`;
const nested = (levels: number) => ['[{"a":'.repeat(levels / 2), '}]'.repeat(levels / 2)].join('1');

describe('accepts', () => {
  test.each([
    ['{}', {}],
    [' [ ] ', []],
    ['"x"', 'x'],
    ['null', null],
    ['0', 0],
    ['-0', -0],
    ['1e3', 1000],
    ['1E+3', 1000],
    ['5.0', 5],
    ['0.1', 0.1],
    ['0e9', 0],
    ['0.000', 0],
    ['1e-3', 0.001],
    ['100000e-2', 1000],
    ['9007199254740991', 9_007_199_254_740_991],
    ['-9007199254740991', -9_007_199_254_740_991],
    ['1.000000000000000000', 1],
    ['"9007199254740993"', '9007199254740993'],
    ['"1e999 [[[[ {\\"a\\":1,\\"a\\":1}"', '1e999 [[[[ {"a":1,"a":1}'],
    ['{"a":{"x":1},"b":{"x":1}}', { a: { x: 1 }, b: { x: 1 } }],
    ['{"a:b":":"}', { 'a:b': ':' }],
    ['{"a":"__proto__"}', { a: '__proto__' }],
    ['{"constructor":1,"proto":2}', { constructor: 1, proto: 2 }],
    ['"\\ud83d\\ude00\\u00e9\\n\\\\"', '😀é\n\\'],
    ['"\\\\u0000"', '\\u0000'],
    ['"\u2028\ufeff\uffff"', '\u2028\ufeff\uffff'],
  ])('%j', (text, value) => {
    expect(parse(text)).toStrictEqual(value);
  });

  test('32 levels', () => {
    expect(() => parse(nested(32))).not.toThrow();
    expect(() => parse(wide(1_000))).not.toThrow();
  });
});

describe('refuses', () => {
  test.each([
    ['{"a":1,"a":1}', 'a member is given twice'],
    ['{"a":1,"\\u0061":2}', 'a member is given twice'],
    ['[{"a":{"b":1,"b":{}}}]', 'a member is given twice'],
    ['{"a":1,"b":2,"a":{"c":3}}', 'a member is given twice'],
    ['{"":1,"":2}', 'a member is given twice'],
    ['{"__proto__":1,"__proto__":2}', 'a member may not be called __proto__'],
    ['{"__proto__":null}', 'a member may not be called __proto__'],
    ['{"__prot\\u006f__":{}}', 'a member may not be called __proto__'],
    ['"\\u0000"', 'text may not hold NUL'],
    ['{"a\\u0000":1}', 'text may not hold NUL'],
    ['["\\ud800"]', 'text may not hold half of a surrogate pair'],
    ['["\\ude00\\ud83d"]', 'text may not hold half of a surrogate pair'],
    [nested(34), 'the body is nested deeper than 32 levels'],
    ['9007199254740992', 'the number 9007199254740992 is out of range'],
    ['-9007199254740992', 'the number -9007199254740992 is out of range'],
    ['1e999', 'the number 1e999 is out of range'],
    ['-1e999', 'the number -1e999 is out of range'],
    ['1e-999', 'the number 1e-999 is out of range'],
    ['{"a":[{"limit" : 9007199254740992}]}', 'the number 9007199254740992 of limit is out of range'],
    ['1e16', 'a number is out of range'],
    ['9007199254740993.0', 'the number 9007199254740993.0 is out of range'],
    ['9007199254740993e0', 'the number 9007199254740993e0 is out of range'],
    ['1.0000000000000001', 'the number 1.0000000000000001 is out of range'],
    ['9'.repeat(100_000), `the number ${'9'.repeat(40)} is out of range`],
    ['', 'the body is not JSON'],
    ['{', 'the body is not JSON'],
    ['"', 'the body is not JSON'],
    ['"\\', 'the body is not JSON'],
    ['}}}}', 'the body is not JSON'],
    ['{"a":1}x', 'the body is not JSON'],
    ['[1,]', 'the body is not JSON'],
    ['1-2', 'the body is not JSON'],
    ['- 1', 'the body is not JSON'],
    ['\ufeff{}', 'the body is not JSON'],
  ])('%j', (text, fault) => {
    expect(faultOf(bytes(text))).toBe(fault);
  });

  test.each([[[0xff]], [[0x22, 0xc0, 0x80, 0x22]], [[0x22, 0xed, 0xa0, 0x80, 0x22]], [[0x22, 0xe2, 0x82]]])(
    'the bytes %j',
    (raw) => {
      expect(faultOf(Uint8Array.from(raw))).toBe('the body is not UTF-8');
    },
  );
});

describe('compared with JSON.parse', () => {
  test('valid input gives the same value', () => {
    const value = fc
      .jsonValue({ depthSize: 'small', noUnicodeString: false })
      .map((each) => JSON.stringify(each));
    fc.assert(
      fc.property(value, (text) => {
        const fault = faultOf(bytes(text));
        if (fault === undefined) expect(parse(text)).toStrictEqual(JSON.parse(text));
        else expect(fault).toMatch(/out of range|surrogate|NUL|__proto__|nested/);
      }),
      { numRuns: 500 },
    );
  });

  test('accepts nothing that JSON.parse refuses, and gives the same value', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '"',
      '"a"',
      '"b"',
      '\\',
      '\\u0000',
      '1',
      '-',
      '.',
      'e',
      'null',
      ' ',
      '"__proto__"',
      '\u00e9',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const text = pieces.join('');
        if (faultOf(bytes(text)) === undefined) expect(parse(text)).toStrictEqual(JSON.parse(text));
      }),
      { numRuns: 3000 },
    );
  });

  test('any bytes give a value or a JsonError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (raw) => void faultOf(raw)),
      { numRuns: 1000 },
    );
  });

  test('finds a duplicate member anywhere', () => {
    const tree = fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.integer(), {
      minKeys: 1,
      maxKeys: 5,
    });
    fc.assert(
      fc.property(tree, tree, (one, other) => {
        const [name] = Object.keys(one);
        fc.pre(!Object.keys({ ...one, ...other }).includes('__proto__'));
        const twice = `{${JSON.stringify(name)}:${JSON.stringify(other)},${JSON.stringify(one).slice(1)}`;
        expect(faultOf(bytes(`[${twice}]`))).toBe('a member is given twice');
      }),
      { numRuns: 300 },
    );
  });
});

test('refuses an object of very many members', () => {
  expect(() => parse(wide(1_001))).toThrow('an object has more than 1,000 members');
});
