/** The forms of a statement for people: what is not listed, and how numbers are written. */
import { describe, expect, test } from 'vitest';
import { renderStatementCsv } from '../../../src/doors/http/statement-csv.ts';
import { renderStatementPage } from '../../../src/doors/http/statement-page.ts';
import { digestOf } from '../../../src/money/statements/statement-document.ts';
import { SAMPLE } from '../../money/statements/support.ts';

describe('as CSV', () => {
  test('the lines of entries and rooms that are not listed add up with the others', () => {
    const lines = renderStatementCsv(SAMPLE).trimEnd().split('\r\n');
    expect(lines).toContain('payment,,,,,further entries: 2,,,,,,40000000,40.000000,');
    expect(lines).toContain('usage,,,,,further rooms: 4,,2,120,36028797018963968,2,-2000000,-2.000000,2');
    expect(lines).toContain(`adjustment,2026-10-09T08:07:06.005Z,adjustment,,,'=goodwill,,,,,,1,0.000001,`);
    const micros = lines.slice(1).map((line) => BigInt(line.split(',').at(-3)!));
    expect(micros.slice(0, -1).reduce((sum, each) => sum + each, 0n)).toBe(micros.at(-1));
  });
});

describe('as a page', () => {
  /** The texts of the page, one a line. */
  const lines = (statement = SAMPLE) =>
    renderStatementPage(statement)
      .replace(/^.*<\/head>/s, '')
      .replace(/<[^>]+>/g, '\n')
      .split('\n')
      .filter((line) => line.trim() !== '');

  test('entries and rooms that are not listed have one line, and a remark', () => {
    expect(lines().join('\n')).toContain('2 further payments\n$40.000000\nAll payments\n$60.000000\n');
    expect(lines()).toContain(
      'The first 1 payments are listed. The others are added up in one line; the ledger has each of them.',
    );
    expect(lines().join('\n')).toContain('4 further rooms\n2\n2.00\n33,554,432.000\n$0.000002\n$2.000000\n');
  });

  test('unbilled usage has a column and a remark, if there is any', () => {
    const remark = 'Unbilled usage is what would have been charged';
    expect(lines()).toContain('Unbilled');
    expect(lines().some((line) => line.includes(remark))).toBe(true);
    const { rooms, sum } = SAMPLE.usage;
    const billed = { rooms: rooms.map((room) => ({ ...room, unbilled: 0n })), others: undefined };
    const without = lines({ ...SAMPLE, usage: { ...billed, sum: { ...sum, unbilled: 0n } } });
    expect(without).not.toContain('Unbilled');
    expect(without.some((line) => line.includes(remark))).toBe(false);
  });

  test('numbers are grouped, and rounded half up', () => {
    const [room] = SAMPLE.usage.rooms;
    const small = { ...room!, records: 1_234_567n, seconds: 3n, egressBytes: 2n ** 19n + 2n ** 18n };
    const usage = {
      rooms: [{ ...small, amount: 1_234_567_000_001n }],
      others: undefined,
      sum: SAMPLE.usage.sum,
    };
    expect(lines({ ...SAMPLE, usage }).join('\n')).toContain(
      'lobby\n1,234,567\n0.05\n0.001\n$0.000003\n$1,234,567.000001\n',
    );
  });

  test('the period is the whole month, and the digest is that of the signed text', () => {
    expect(lines().join('\n')).toContain('Period\n1 to 31 October 2026, UTC\n');
    expect(lines()).toContain(digestOf(SAMPLE));
  });
});
