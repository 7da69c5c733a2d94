import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderBatch, splitBatches } from '../../../../sdk/typescript/src/relay/usage/batches.ts';

/** Text of one to four bytes a character. */
const line = fc
  .string({ unit: fc.constantFrom('a', 'ß', '界', '🎭', '"', '\\', '\n'), maxLength: 60 })
  .map((room) => JSON.stringify({ room }));

describe('splitBatches', () => {
  it('keeps every line, in order, in batches within both limits that could not have been fewer', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 60 }),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 300, max: 900 }),
        (lines, records, bytes) => {
          const batches = splitBatches(lines, { records, bytes });
          expect(batches.flat()).toEqual(lines);
          for (const [index, batch] of batches.entries()) {
            const size = Buffer.byteLength(renderBatch(batch));
            expect(batch.length).toBeLessThanOrEqual(records);
            if (batch.length > 1) expect(size).toBeLessThanOrEqual(bytes);
            const next = batches[index + 1]?.[0];
            if (next === undefined || batch.length === records) continue;
            // One byte less: the comma after the last line is counted but not sent.
            expect(Buffer.byteLength(renderBatch([...batch, next])) + 1).toBeGreaterThan(bytes);
          }
        },
      ),
    );
  });

  it('counts bytes and not characters', () => {
    const lines = Array.from({ length: 10 }, () => JSON.stringify({ room: '🎭'.repeat(100) }));
    expect(lines[0]!.length).toBeLessThan(220);
    expect(splitBatches(lines, { records: 1_000, bytes: 1_000 }).map((batch) => batch.length)).toEqual([
      2, 2, 2, 2, 2,
    ]);
  });

  it('gives a line that is too long for any batch one of its own', () => {
    expect(splitBatches(['1', `"${'x'.repeat(100)}"`, '2'], { records: 10, bytes: 50 })).toHaveLength(3);
  });

  it('renders them as JSON', () => {
    expect(JSON.parse(renderBatch(['{"id":"a"}', '{"id":"b"}']))).toEqual({
      records: [{ id: 'a' }, { id: 'b' }],
    });
    expect(renderBatch([])).toBe('{"records":[]}');
  });
});
