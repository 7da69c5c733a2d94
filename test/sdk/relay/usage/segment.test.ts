import { describe, expect, it } from 'vitest';
import { encodeEntry, parseSegment } from '../../../../sdk/typescript/src/relay/usage/segment.ts';

const LINES = ['{"id":"a","room":"main"}', '{"id":"b","room":"Bühne 🎭"}', '{"id":"c","room":"x"}'];
const ENTRIES = LINES.map(encodeEntry);
const WHOLE = Buffer.concat(ENTRIES);
const LAST_AT = WHOLE.length - ENTRIES[2]!.length;

describe('a segment', () => {
  it('returns what was stored', () => {
    expect(parseSegment(WHOLE)).toEqual({ lines: LINES, corrupt: [], tornBytes: 0 });
    expect(parseSegment(Buffer.alloc(0))).toEqual({ lines: [], corrupt: [], tornBytes: 0 });
  });

  it('is readable text', () => {
    expect(encodeEntry('{"id":"a"}').toString()).toBe('0000000a 9aa4e643 {"id":"a"}\n');
  });

  it('torn at any byte of its last entry loses that entry and nothing else', () => {
    for (let end = LAST_AT; end < WHOLE.length; end += 1) {
      const parsed = parseSegment(WHOLE.subarray(0, end));
      expect(parsed).toEqual({ lines: LINES.slice(0, 2), corrupt: [], tornBytes: end - LAST_AT });
    }
  });

  it('takes zeros at the end for a write that a power failure interrupted', () => {
    const zeros = Buffer.concat([WHOLE, Buffer.alloc(4_096)]);
    expect(parseSegment(zeros)).toEqual({ lines: LINES, corrupt: [], tornBytes: 4_096 });
  });

  it('reports damage to any byte of an entry in the middle, and keeps the others', () => {
    const start = ENTRIES[0]!.length;
    const end = LAST_AT - 1;
    for (let at = start; at < end; at += 1) {
      const damaged = Buffer.from(WHOLE);
      damaged[at] = damaged[at]! ^ 0x01;
      const parsed = parseSegment(damaged);
      expect(parsed.lines).toEqual([LINES[0], LINES[2]]);
      expect(parsed.corrupt[0]!.offset).toBe(start);
      expect(parsed.corrupt.reduce((sum, each) => sum + each.bytes, 0)).toBe(ENTRIES[1]!.length);
      expect(parsed.tornBytes).toBe(0);
    }
  });

  it('loses two entries, and reports it, if the line break between them is damaged', () => {
    const damaged = Buffer.from(WHOLE);
    damaged[LAST_AT - 1] = 0x20;
    const bytes = ENTRIES[1]!.length + ENTRIES[2]!.length;
    const corrupt = [{ offset: ENTRIES[0]!.length, bytes }];
    expect(parseSegment(damaged)).toEqual({ lines: [LINES[0]], corrupt, tornBytes: 0 });
  });

  it('does not treat a damaged last entry as an incomplete one', () => {
    for (let at = LAST_AT + 8; at < WHOLE.length; at += 1) {
      const damaged = Buffer.from(WHOLE);
      damaged[at] = damaged[at]! ^ 0x40;
      const corrupt = [{ offset: LAST_AT, bytes: ENTRIES[2]!.length }];
      expect(parseSegment(damaged)).toEqual({ lines: LINES.slice(0, 2), corrupt, tornBytes: 0 });
    }
  });
});
