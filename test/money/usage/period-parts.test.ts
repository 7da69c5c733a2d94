import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edgesOf, endOfWeek } from '../../../src/money/usage/period-parts.ts';

const HOUR_MS = 3_600_000;
const at = (text: string) => new Date(`${text}Z`);

describe('the edges of a period', () => {
  test.each([
    // 2026-11-02, 2026-11-09 and 2026-11-16 are Mondays.
    {
      period: ['2026-10-30T05:00', '2026-11-18T07:00'],
      edges: [
        '2026-10-30T05:00',
        '2026-10-31T00:00',
        '2026-11-02T00:00',
        '2026-11-16T00:00',
        '2026-11-18T00:00',
        '2026-11-18T07:00',
      ],
    },
    {
      period: ['2026-11-02T00:00', '2026-11-09T00:00'],
      edges: [
        '2026-11-02T00:00',
        '2026-11-02T00:00',
        '2026-11-02T00:00',
        '2026-11-09T00:00',
        '2026-11-09T00:00',
        '2026-11-09T00:00',
      ],
    },
    {
      period: ['2026-11-03T00:00', '2026-11-09T01:00'],
      edges: [
        '2026-11-03T00:00',
        '2026-11-03T00:00',
        '2026-11-09T00:00',
        '2026-11-09T00:00',
        '2026-11-09T00:00',
        '2026-11-09T01:00',
      ],
    },
    {
      period: ['2026-11-03T01:00', '2026-11-03T23:00'],
      edges: [
        '2026-11-03T01:00',
        '2026-11-03T23:00',
        '2026-11-03T23:00',
        '2026-11-03T23:00',
        '2026-11-03T23:00',
        '2026-11-03T23:00',
      ],
    },
  ])('$period', ({ period: [from, to], edges }) => {
    expect(edgesOf(at(from!), at(to!), 'week')).toEqual(edges.map(at));
  });

  test('are those of days, or of the period alone, for shorter parts', () => {
    const [from, to] = [at('2026-11-01T05:00'), at('2026-11-18T07:00')];
    expect(edgesOf(from, to, 'day')).toEqual([from, at('2026-11-02T00:00'), at('2026-11-18T00:00'), to]);
    expect(edgesOf(from, to, undefined)).toEqual([from, to]);
  });

  test('are in order, those of days at midnight, those of weeks on Mondays', () => {
    const hour = fc.integer({ min: -3_000, max: 500_000 });
    fc.assert(
      fc.property(hour, fc.integer({ min: 0, max: 1_000 }), (first, hours) => {
        const from = new Date(first * HOUR_MS);
        const to = new Date((first + hours) * HOUR_MS);
        const edges = edgesOf(from, to, 'week');
        expect(edges.toSorted((one, other) => one.getTime() - other.getTime())).toEqual(edges);
        expect([edges[0], edges[5]]).toEqual([from, to]);
        const [, firstDay, firstWeek, lastWeek, lastDay] = edges as [Date, Date, Date, Date, Date];
        if (firstDay < lastDay) expect([firstDay.getUTCHours(), lastDay.getUTCHours()]).toEqual([0, 0]);
        if (firstWeek < lastWeek) expect([firstWeek.getUTCDay(), lastWeek.getUTCDay()]).toEqual([1, 1]);
        // No more than a day of hours and a week of days on either side, if there is a longer part between them.
        if (firstDay < lastDay) expect(firstDay.getTime() - from.getTime()).toBeLessThan(24 * HOUR_MS);
        if (firstWeek < lastWeek)
          expect(firstWeek.getTime() - firstDay.getTime()).toBeLessThan(7 * 24 * HOUR_MS);
      }),
    );
  });
});

test.each([
  ['2026-11-22T23:59:59.999', '2026-11-23T00:00'],
  ['2026-11-23T00:00', '2026-11-30T00:00'],
])('the week of %s ends at %s', (time, end) => {
  expect(endOfWeek(at(time))).toEqual(at(end));
});
