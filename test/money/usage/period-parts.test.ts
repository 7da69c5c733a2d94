import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edgesOf, LONG_PARTS, SHORT_PARTS, shortestWay } from '../../../src/money/usage/period-parts.ts';

const HOUR_MS = 3_600_000;
const LATER = new Date('2100-01-01T00:00:00Z');
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
    expect(edgesOf(at(from!), at(to!), { parts: SHORT_PARTS, until: LATER })).toEqual(edges.map(at));
  });

  test('are those of days, or of the period alone, for shorter parts', () => {
    const [from, to] = [at('2026-11-01T05:00'), at('2026-11-18T07:00')];
    expect(edgesOf(from, to, { parts: ['day'], until: LATER })).toEqual([
      from,
      at('2026-11-02T00:00'),
      at('2026-11-18T00:00'),
      to,
    ]);
    expect(edgesOf(from, to, { parts: [], until: LATER })).toEqual([from, to]);
  });

  test.each([
    // Rolled up to the middle of a week, to the first day, and not as far as the period.
    [
      '2026-11-12T00:00',
      ['2026-11-01T05:00', '2026-11-02T00:00', '2026-11-02T00:00', '2026-11-09T00:00', '2026-11-12T00:00'],
    ],
    [
      '2026-11-03T00:00',
      ['2026-11-01T05:00', '2026-11-02T00:00', '2026-11-03T00:00', '2026-11-03T00:00', '2026-11-03T00:00'],
    ],
    [
      '2026-10-01T00:00',
      ['2026-11-01T05:00', '2026-11-01T05:00', '2026-11-01T05:00', '2026-11-01T05:00', '2026-11-01T05:00'],
    ],
  ])('are of hours after %s, when that is as far as days are rolled up', (until, edges) => {
    const [from, to] = [at('2026-11-01T05:00'), at('2026-11-18T07:00')];
    expect(edgesOf(from, to, { parts: SHORT_PARTS, until: at(until) })).toEqual([...edges.map(at), to]);
  });

  test('are in order, those of days at midnight, those of weeks on Mondays', () => {
    const hour = fc.integer({ min: -3_000, max: 500_000 });
    fc.assert(
      fc.property(hour, fc.integer({ min: 0, max: 1_000 }), (first, hours) => {
        const from = new Date(first * HOUR_MS);
        const to = new Date((first + hours) * HOUR_MS);
        const edges = edgesOf(from, to, { parts: SHORT_PARTS, until: LATER });
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

describe('with months', () => {
  test('the edges of a period are those of whole months', () => {
    const [from, to] = [at('2026-09-29T05:00'), at('2027-01-02T07:00')];
    expect(edgesOf(from, to, { parts: LONG_PARTS, until: LATER })).toEqual([
      from,
      at('2026-09-30T00:00'),
      at('2026-10-01T00:00'),
      at('2027-01-01T00:00'),
      at('2027-01-02T00:00'),
      to,
    ]);
  });

  test.each([
    ['a month', '2026-10-01T00:00', '2026-11-01T00:00', LONG_PARTS],
    ['February of a leap year', '2028-02-01T00:00', '2028-03-01T00:00', LONG_PARTS],
    ['a year', '2026-01-01T00:00', '2027-01-01T00:00', LONG_PARTS],
    ['thirty days from the middle of a month', '2026-10-14T11:00', '2026-11-13T11:00', SHORT_PARTS],
    ['a week', '2026-11-02T00:00', '2026-11-09T00:00', SHORT_PARTS],
    ['hours', '2026-11-02T01:00', '2026-11-02T09:00', SHORT_PARTS],
  ])('%s is put together from as few parts as possible', (_what, from, to, way) => {
    expect(shortestWay(at(from), at(to), { ways: [SHORT_PARTS, LONG_PARTS], until: LATER })).toEqual(way);
  });

  test('a month that is not rolled up to its end has no month', () => {
    const until = at('2026-10-20T00:00');
    const [from, to] = [at('2026-10-01T00:00'), at('2026-11-01T00:00')];
    expect(shortestWay(from, to, { ways: [SHORT_PARTS, LONG_PARTS], until })).toEqual(SHORT_PARTS);
    expect(edgesOf(from, to, { parts: LONG_PARTS, until })).toEqual([from, from, until, until, until, to]);
  });
});
