/**
 * A stricter `JSON.parse`: it refuses input that different parsers read differently.
 *
 * It refuses invalid UTF-8, nesting deeper than 32, objects of more than 1,000 members, duplicate members, a
 * member called `__proto__`, NUL and lone surrogates in text, and numbers that a double cannot hold exactly.
 * `JSON.parse` checks everything else. One pass over the bytes before it, and one over the value after it, find
 * what it accepts.
 */

/** The caller sees `message`. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  /** The member that is wrong, if a single one is. */
  readonly field: string | undefined;

  constructor(message: string, field?: string) {
    super(message);
    this.field = field;
  }
}

const DEPTH_MAX = 32;
/** Members of one object. A parser is slow with many different names; no request has that many. */
const MEMBERS_MAX = 1_000;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The value of a JSON text. Throws `JsonError`. */
export function parseStrictJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  const scan = scanStructure(bytes);
  const value = parse(text);

  const walk: Walk = { members: 0, checkText: scan.hasEscapes || text.includes('__proto__') };
  inspect(value, walk);
  // Parsing keeps one of two duplicate members, so the value has fewer members than the text.
  if (walk.members !== scan.members) throw new JsonError('a member is given twice');
  return value;
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new JsonError('the body is not UTF-8');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonError('the body is not JSON');
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

interface Scan {
  readonly members: number;
  readonly hasEscapes: boolean;
}

/** Counts members and depth, and checks numbers as written. Skips text. */
function scanStructure(bytes: Uint8Array): Scan {
  let members = 0;
  let depth = 0;
  /** The members of the objects around the place, by their depth. */
  const counts = new Uint32Array(DEPTH_MAX + 1);
  let hasEscapes = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      for (at += 1; at < bytes.length && bytes[at] !== QUOTE; at += 1) {
        if (bytes[at] === BACKSLASH) {
          hasEscapes = true;
          at += 1;
        }
      }
    } else if (byte === COLON) {
      members += 1;
      if (depth >= 0 && ++counts[depth]! > MEMBERS_MAX) {
        throw new JsonError(`an object has more than ${MEMBERS_MAX.toLocaleString('en-US')} members`);
      }
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (depth > DEPTH_MAX) throw new JsonError(`the body is nested deeper than ${DEPTH_MAX} levels`);
      counts[depth] = 0;
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
    } else if (byte === MINUS || (byte >= DIGIT_0 && byte <= DIGIT_9)) {
      at = scanNumber(bytes, at) - 1;
    }
  }
  return { members, hasEscapes };
}

/** 15 significant digits always fit a double. Longer numbers and exponents are checked one by one. */
const DIGITS_SAFE = 15;

/** How far back to look for the name of a member. */
const NAME_BYTES = 100;

/** Returns the end of the number. */
function scanNumber(bytes: Uint8Array, start: number): number {
  let end = start + 1;
  let hasExponent = false;
  while (end < bytes.length && isInNumber(bytes[end]!)) {
    hasExponent ||= isExponent(bytes[end]!);
    end += 1;
  }
  if (hasExponent || end - start > DIGITS_SAFE) checkNumber(bytes, start, end);
  return end;
}

function isInNumber(byte: number): boolean {
  const isDigit = byte >= DIGIT_0 && byte <= DIGIT_9;
  return isDigit || byte === 0x2e || byte === MINUS || byte === 0x2b || isExponent(byte);
}

function isExponent(byte: number): boolean {
  return (byte | 0x20) === 0x65;
}

function checkNumber(bytes: Uint8Array, start: number, end: number): void {
  const text = decoder.decode(bytes.subarray(start, end));
  const value = Number(text);
  const digits = text
    .replace(/[eE].*$/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+|0+$/g, '');
  const isExact = /^-?[0-9]+$/.test(text) ? Number.isSafeInteger(value) : digits.length <= DIGITS_SAFE;
  const isTooSmall = value === 0 && digits !== '';
  if (!isExact || isTooSmall || !Number.isFinite(value)) {
    const field = memberBefore(bytes, start);
    const of = field === undefined ? '' : ` of ${field}`;
    throw new JsonError(`the number ${text.slice(0, 40)}${of} is out of range`, field);
  }
}

/** The name of the member whose value begins at `start`; `undefined`: it is an item, or the name is not plain. */
function memberBefore(bytes: Uint8Array, start: number): string | undefined {
  const before = new TextDecoder('latin1').decode(bytes.subarray(Math.max(0, start - NAME_BYTES), start));
  return /"(\w+)"\s*:\s*$/.exec(before)?.[1];
}

interface Walk {
  members: number;
  /** Only escapes can produce NUL, lone surrogates, or a name that the text does not show. */
  readonly checkText: boolean;
}

function inspect(value: unknown, walk: Walk): void {
  if (typeof value === 'string') {
    if (walk.checkText) checkString(value);
  } else if (typeof value === 'number') {
    if (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value)) {
      throw new JsonError('a number is out of range');
    }
  } else if (Array.isArray(value)) {
    for (const item of value) inspect(item, walk);
  } else if (value !== null && typeof value === 'object') {
    for (const name of Object.keys(value)) {
      walk.members += 1;
      if (walk.checkText) checkString(name);
      if (name === '__proto__') throw new JsonError('a member may not be called __proto__');
      inspect((value as Record<string, unknown>)[name], walk);
    }
  }
}

function checkString(text: string): void {
  if (text.includes('\0')) throw new JsonError('text may not hold NUL');
  if (!text.isWellFormed()) throw new JsonError('text may not hold half of a surrogate pair');
}
