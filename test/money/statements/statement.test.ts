import { describe, expect, test } from 'vitest';
import { endOf, type Month } from '../../../src/money/month.ts';
import { isComplete, readyAt } from '../../../src/money/statements/statement.ts';

describe('a month', () => {
  test.each([
    ['2026-02', '2026-03-01T00:15:00.000Z'],
    ['2026-12', '2027-01-01T00:15:00.000Z'],
    ['0099-12', '0100-01-01T00:15:00.000Z'],
  ])('%s has its statement from %s on', (month, ready) => {
    expect(readyAt(endOf(month as Month)).toISOString()).toBe(ready);
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
