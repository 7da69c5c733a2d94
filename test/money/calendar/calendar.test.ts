import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Calendar, type Day, daysLater, type ZoneChange } from '../../../src/money/calendar/calendar.ts';
import type { TimeZone } from '../../../src/money/calendar/time-zone.ts';
import { type Month, nextMonth } from '../../../src/money/month.ts';

const change = (zone: string, month: string) => ({ zone, month }) as ZoneChange;
const at = (time: string) => new Date(time);

test('without a change, months are those of UTC', () => {
  const calendar = new Calendar([]);
  expect(calendar.startOf('2026-10' as Month)).toEqual(at('2026-10-01T00:00:00Z'));
  expect(calendar.endOf('2026-12' as Month)).toEqual(at('2027-01-01T00:00:00Z'));
  expect(calendar.dayOf(at('2026-10-31T23:59:59.999Z'))).toBe('2026-10-31');
});

test('the first month after a change runs from its start in the old zone to its end in the new one', () => {
  const calendar = new Calendar([change('Asia/Kathmandu', '2026-11'), change('America/Havana', '2027-01')]);
  expect(calendar.startOf('2026-11' as Month)).toEqual(at('2026-11-01T00:00:00Z'));
  expect(calendar.endOf('2026-11' as Month)).toEqual(at('2026-11-30T18:15:00Z'));
  expect(calendar.endOf('2026-12' as Month)).toEqual(at('2026-12-31T18:15:00Z'));
  expect(calendar.endOf('2027-01' as Month)).toEqual(at('2027-02-01T05:00:00Z'));
});

test('of two changes for one month the later one holds', () => {
  const calendar = new Calendar([change('Asia/Kathmandu', '2026-11'), change('Asia/Tokyo', '2026-11')]);
  expect(calendar.endOf('2026-11' as Month)).toEqual(at('2026-11-30T15:00:00Z'));
});

test('the rest of a day that a change cuts is part of the first day of the month, of which it may leave nothing', () => {
  const west = new Calendar([change('America/Havana', '2026-11')]);
  expect(west.dayOf(at('2026-11-01T00:00:00Z'))).toBe('2026-11-01');
  expect(west.startOfDay('2026-11-02' as Day)).toEqual(at('2026-11-02T05:00:00Z'));
  const east = new Calendar([change('Etc/GMT+12', '2026-10'), change('Pacific/Kiritimati', '2026-11')]);
  expect(east.startOfDay('2026-11-01' as Day)).toEqual(at('2026-11-01T12:00:00Z'));
  expect(east.startOfDay('2026-11-02' as Day)).toEqual(at('2026-11-01T12:00:00Z'));
  expect(east.dayOf(at('2026-11-01T12:00:00Z'))).toBe('2026-11-02');
});

test('an end that is kept stays, though the rules were corrected', () => {
  // As if Nepal had left its offset for one an hour later, or earlier, at short notice.
  for (const kept of ['2026-10-31T17:15:00Z', '2026-10-31T19:15:00Z']) {
    const calendar = new Calendar(
      [change('Asia/Kathmandu', '2026-01')],
      new Map([['2026-10' as Month, at(kept)]]),
    );
    expect([calendar.endOf('2026-10' as Month), calendar.startOf('2026-11' as Month)]).toEqual([
      at(kept),
      at(kept),
    ]);
    expect(calendar.dayOf(new Date(at(kept).getTime() - 1))).toBe('2026-10-31');
    expect(calendar.dayOf(at(kept))).toBe('2026-11-01');
    expect(calendar.startOfDay('2026-11-01' as Day)).toEqual(at(kept));
    expect(calendar.endOf('2026-11' as Month)).toEqual(at('2026-11-30T18:15:00Z'));
  }
});

const zones = Intl.supportedValuesOf('timeZone') as TimeZone[];
const months = Array.from(
  { length: 36 },
  (_, at) => `${2025 + Math.floor(at / 12)}-${String((at % 12) + 1).padStart(2, '0')}` as Month,
);
const calendars = fc
  .array(
    fc.record({
      zone: fc.constantFrom(...zones, 'Pacific/Kiritimati' as TimeZone, 'Etc/GMT+12' as TimeZone),
      month: fc.constantFrom(...months),
    }),
    { maxLength: 6 },
  )
  .map((changes) =>
    changes.sort((one, other) => (one.month < other.month ? -1 : Number(one.month > other.month))),
  );

test('months and days tile the time line, whatever zones and changes', () => {
  const time = fc.date({ min: at('2024-11-01'), max: at('2028-02-01'), noInvalidDate: true });
  fc.assert(
    fc.property(calendars, time, (changes, when) => {
      const calendar = new Calendar(changes);
      const month = calendar.monthOf(when);
      expect(calendar.startOf(month) <= when && when < calendar.endOf(month)).toBe(true);
      expect(calendar.startOf(nextMonth(month))).toEqual(calendar.endOf(month));
      const day = calendar.dayOf(when);
      expect(calendar.startOfDay(day) <= when && when < calendar.startOfDay(daysLater(day, 1))).toBe(true);
      expect(day.startsWith(month)).toBe(true);
      const starts = calendar.startsOfDays(calendar.startOf(month), calendar.endOf(month));
      const count = new Date(Date.parse(`${nextMonth(month)}-01`) - 1).getUTCDate();
      const days = Array.from({ length: count }, (_, at) => daysLater(`${month}-01` as Day, at));
      // A change may leave nothing of the first day: it then begins with the second one.
      const begun = days.map((each) => calendar.startOfDay(each)).slice(count - starts.length);
      expect([starts, starts[0]]).toEqual([begun, calendar.startOf(month)]);
      expect(count - starts.length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 300 },
  );
});

test('a change moves no end of a month before its own', () => {
  fc.assert(
    fc.property(calendars, (changes) => {
      for (let count = 1; count <= changes.length; count += 1) {
        const [before, after] = [
          new Calendar(changes.slice(0, count - 1)),
          new Calendar(changes.slice(0, count)),
        ];
        for (const month of months.filter((each) => each < changes[count - 1]!.month)) {
          expect(after.endOf(month)).toEqual(before.endOf(month));
        }
      }
    }),
    { numRuns: 50 },
  );
});
