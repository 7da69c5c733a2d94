import { describe, expect, test } from 'vitest';
import { endOf, type Month, monthOf, parseMonth, startOf } from '../../src/money/month.ts';

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
    ['2026-02', '2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z'],
    ['2026-12', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
    ['0099-12', '0099-12-01T00:00:00.000Z', '0100-01-01T00:00:00.000Z'],
  ])('%s has a start and an end', (text, start, end) => {
    const month = text as Month;
    expect([startOf, endOf].map((time) => time(month).toISOString())).toEqual([start, end]);
    expect(monthOf(startOf(month))).toBe(month);
    expect(monthOf(new Date(endOf(month).getTime() - 1))).toBe(month);
  });
});
