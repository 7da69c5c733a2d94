import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  offsetAt,
  parseTimeZone,
  startOfDayIn,
  type TimeZone,
} from '../../../src/money/calendar/time-zone.ts';

const start = (zone: string, day: string) =>
  startOfDayIn(zone as TimeZone, Date.parse(day))
    .toISOString()
    .replace(':00.000Z', 'Z');

test.each([
  ['UTC', '2026-11-01', '2026-11-01T00:00Z'],
  ['Asia/Kathmandu', '2026-11-01', '2026-10-31T18:15Z'],
  ['Asia/Kolkata', '2026-11-01', '2026-10-31T18:30Z'],
  ['Pacific/Chatham', '2026-11-01', '2026-10-31T10:15Z'],
  ['Pacific/Kiritimati', '2026-11-01', '2026-10-31T10:00Z'],
  ['Etc/GMT+12', '2026-11-01', '2026-11-01T12:00Z'],
  // A day of 23 hours, and one of 25.
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00Z'],
  ['Europe/Berlin', '2026-03-30', '2026-03-29T22:00Z'],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00Z'],
  ['Europe/Berlin', '2026-10-26', '2026-10-25T23:00Z'],
  // The clock goes from 24:00 to 1:00, so the day begins at 1:00.
  ['America/Santiago', '2026-09-06', '2026-09-06T04:00Z'],
  ['Africa/Cairo', '2026-04-24', '2026-04-23T22:00Z'],
  // It goes from 1:00 back to 0:00: midnight comes twice, and the day begins at the first one.
  ['America/Havana', '2026-11-01', '2026-11-01T04:00Z'],
  ['America/Havana', '2026-11-02', '2026-11-02T05:00Z'],
  // It goes from 24:00 back to 23:00, so the day before has an hour more.
  ['Asia/Beirut', '2026-10-25', '2026-10-24T22:00Z'],
  ['America/Nuuk', '2026-10-25', '2026-10-25T02:00Z'],
  // It goes from 23:00 to 24:00.
  ['America/Nuuk', '2026-03-29', '2026-03-29T01:00Z'],
  ['Australia/Lord_Howe', '2026-04-06', '2026-04-05T13:30Z'],
  // A day that was left out.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00Z'],
  ['Pacific/Apia', '2011-12-31', '2011-12-30T10:00Z'],
])('in %s, %s begins at %s', (zone, day, expected) => {
  expect(start(zone, day)).toBe(expected);
});

test('a day begins at the first instant at which the clock shows its date', () => {
  const zones = Intl.supportedValuesOf('timeZone') as TimeZone[];
  const day = fc.integer({
    min: Date.parse('2020-01-01') / 86_400_000,
    max: Date.parse('2037-12-31') / 86_400_000,
  });
  const shown = (zone: TimeZone, time: number) => new Date(time + offsetAt(zone, time)).toISOString();
  fc.assert(
    fc.property(fc.constantFrom(...zones), day, (zone, days) => {
      const date = new Date(days * 86_400_000).toISOString();
      const first = startOfDayIn(zone, days * 86_400_000).getTime();
      expect(first % 900_000).toBe(0);
      expect(shown(zone, first) >= date).toBe(true);
      // No clock goes further than two hours back.
      for (let before = 1; before <= 3 * 3_600_000; before += 899_999) {
        expect(shown(zone, first - before) < date).toBe(true);
      }
    }),
    { numRuns: 3_000 },
  );
});

describe('names', () => {
  test.each([
    'UTC',
    'Europe/Berlin',
    'Asia/Kolkata',
    'Asia/Calcutta',
    'Europe/Kyiv',
    'America/Argentina/Ushuaia',
    'Etc/GMT+5',
  ])('%s is one', (name) => expect(parseTimeZone(name)).toBe(name));
  test.each([
    '',
    '+05:30',
    'GMT+1',
    'europe/berlin',
    'Europe/Nowhere',
    'posix/UTC',
    'Europe/Berlin ',
    `E${'u'.repeat(64)}`,
  ])('%j is none', (name) => expect(parseTimeZone(name)).toBeUndefined());
});
