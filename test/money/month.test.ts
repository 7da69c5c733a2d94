import { describe, expect, test } from 'vitest';
import {
  endOf,
  isComplete,
  type Month,
  monthOf,
  parseMonth,
  readyAt,
  startOf,
} from '../../src/money/month.ts';

describe('a month', () => {
  test.each(['2026-01', '2026-12', '0001-01', '9999-12'])('%s is one', (text) => {
    expect(parseMonth(text)).toBe(text);
  });

  test.each([
    '2026-13',
    '2026-00',
    '0000-01',
    '2026-1',
    '26-01',
    '2026-01-01',
    '2026-01 ',
    '+2026-01',
    '２026-01',
    '',
  ])('%j is none', (text) => {
    expect(parseMonth(text)).toBeUndefined();
  });

  test.each([
    ['2026-02', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z', '2026-03-01T00:15:00.000Z'],
    ['2026-12', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z', '2027-01-01T00:15:00.000Z'],
    ['0099-12', '0099-12-01T00:00:00.000Z', '0100-01-01T00:00:00.000Z', '0100-01-01T00:15:00.000Z'],
  ])('%s has a start, an end, and a time from which on its statement is there', (text, start, end, ready) => {
    const month = text as Month;
    expect([startOf, endOf, readyAt].map((time) => time(month).toISOString())).toEqual([start, end, ready]);
    expect(monthOf(startOf(month))).toBe(month);
    expect(monthOf(new Date(endOf(month).getTime() - 1))).toBe(month);
  });

  test.each([
    ['2026-10-01T00:00:00.000Z', false],
    ['2026-11-01T00:14:59.999Z', false],
    ['2026-11-01T00:15:00.000Z', true],
  ])('at %s is complete: %s, because a commit takes a moment', (now, complete) => {
    expect(isComplete('2026-10' as Month, new Date(now))).toBe(complete);
  });

  test('that has not begun is refused', () => {
    expect(() => isComplete('2026-10' as Month, new Date('2026-09-30T23:59:59.999Z'))).toThrow(
      'invalid request: month 2026-10 has not begun',
    );
  });
});
