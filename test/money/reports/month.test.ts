import { describe, expect, test } from 'vitest';
import { hasEnded, parseMonth } from '../../../src/money/reports/month.ts';

test.each([
  ['2026-10', '2026-10-01T00:00:00.000Z', '2026-11-01T00:00:00.000Z'],
  ['2026-12', '2026-12-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z'],
  ['2028-02', '2028-02-01T00:00:00.000Z', '2028-03-01T00:00:00.000Z'],
])('%s is from %s to %s', (name, from, until) => {
  expect(parseMonth(name)).toStrictEqual({ name, from: new Date(from), until: new Date(until) });
});

test.each([
  '',
  '2026',
  '2026-1',
  '2026-00',
  '2026-13',
  '26-10',
  '2026-10-01',
  '2026/10',
  ' 2026-10',
  '1999-12',
  '٢٠٢٦-10',
])('%j is no month', (text) => {
  expect(parseMonth(text)).toBeUndefined();
});

describe('a month', () => {
  const october = parseMonth('2026-10')!;

  test.each([
    ['2026-10-01T00:00:00.000Z', false],
    ['2026-10-31T23:59:59.999Z', false],
    ['2026-11-01T00:00:59.999Z', false],
    ['2026-11-01T00:01:00.000Z', true],
  ])('at %s has ended: %s, because postings take a moment', (now, ended) => {
    expect(hasEnded(october, new Date(now))).toBe(ended);
  });

  test('that has not begun is refused', () => {
    expect(() => hasEnded(october, new Date('2026-09-30T23:59:59.999Z'))).toThrow(
      'invalid request: month 2026-10 has not begun',
    );
  });
});
