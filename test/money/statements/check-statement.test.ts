import { describe, expect, test } from 'vitest';
import type { TimeZone } from '../../../src/money/calendar/time-zone.ts';
import { findFault } from '../../../src/money/statements/check-statement.ts';
import type { Statement } from '../../../src/money/statements/statement.ts';
import { SAMPLE } from './support.ts';

const { payments, reversals, usage } = SAMPLE;
const [payment] = payments.entries;

test('a month of UTC may have begun in another zone', () => {
  expect(findFault({ ...SAMPLE, from: new Date('2026-09-30T18:15:00Z') })).toBeUndefined();
});

describe('a statement', () => {
  test('adds up', () => {
    expect(findFault(SAMPLE)).toBeUndefined();
  });

  test.each<[string, Partial<Statement>]>([
    ['the closing balance is $52.999997 by the entries, and $52.999996 by the statement', { opening: -4n }],
    [
      'the closing balance is $52.999996 by the entries, and $52.999995 by the statement',
      { closing: 52_999_995n },
    ],
    [
      'the sum of payments is $60.000001 by the entries, and $60.000000 by the statement',
      { payments: { ...payments, entries: [{ ...payment!, amount: 20_000_001n }] } },
    ],
    [
      'the sum of payments is $20.000000 by the entries, and $60.000000 by the statement',
      { payments: { ...payments, others: undefined } },
    ],
    [
      'the sum of reversals is -$1.000000 by the entries, and -$1.000001 by the statement',
      { reversals: { ...reversals, sum: -1_000_001n } },
    ],
    [
      'an entry of payments is of 2026-11-01T00:00:00.000Z, which is not in 2026-10',
      { payments: { ...payments, entries: [{ ...payment!, at: new Date('2026-11-01T00:00:00Z') }] } },
    ],
    [
      'an entry of payments is of 2026-09-30T23:59:59.999Z, which is not in 2026-10',
      { payments: { ...payments, entries: [{ ...payment!, at: new Date('2026-09-30T23:59:59.999Z') }] } },
    ],
    [
      '2026-10 in UTC does not run from 2026-10-01T00:00:00.000Z to 2026-10-31T23:00:00.000Z',
      { to: new Date('2026-10-31T23:00:00Z') },
    ],
    [
      '2026-10 in Asia/Tokyo does not run from 2026-09-30T00:00:00.000Z to 2026-11-01T00:00:00.000Z',
      { zone: 'Asia/Tokyo' as TimeZone, from: new Date('2026-09-30T00:00:00Z') },
    ],
    [
      'the rooms have 4 records together, and the statement says 6',
      { usage: { ...usage, others: undefined } },
    ],
    [
      'the rooms have 6 micros of unbilled usage together, and the statement says 7',
      { usage: { ...usage, sum: { ...usage.sum, unbilled: 7n } } },
    ],
    [
      'the rooms have 6000000 micros of usage together, and the statement says 5999999',
      { usage: { ...usage, sum: { ...usage.sum, amount: 5_999_999n } } },
    ],
  ])('%s', (fault, change) => {
    expect(findFault({ ...SAMPLE, ...change })).toBe(fault);
  });
});
