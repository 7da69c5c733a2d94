import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseStay, LATE_HOURS_MAX, type Stay } from '../../../src/control/sessions/match-session.ts';

const MINUTE = 60_000;
const time = (minutes: number) => new Date(Date.UTC(2026, 10, 28) + minutes * MINUTE);
const stay = (from: number, to: number | null): Stay => ({
  from: time(from),
  to: to === null ? null : time(to),
});

describe('a record of 30 seconds, charged at minute 100, belongs to', () => {
  const charged = { at: time(100), seconds: 30 };
  const late = 100 - LATE_HOURS_MAX * 60;

  test.each<[string, Stay[], number | undefined]>([
    ['the session that runs', [stay(50, null)], 0],
    ['the session that ended a while ago', [stay(50, 90)], 0],
    ['the newer one of two', [stay(70, null), stay(50, 60)], 0],
    ['the one before, if its interval began before the newer one did', [stay(99.8, null), stay(50, 60)], 1],
    ['the only one, though the relay counted more seconds than it has', [stay(99.8, null)], 0],
    ['none that began after the charge', [stay(101, null)], undefined],
    ['none that ended more than a day before', [stay(late - 60, late - 10)], undefined],
    [
      'the newer one, if the one before ended more than a day before',
      [stay(99.8, null), stay(late - 60, late - 10)],
      0,
    ],
    ['none, if there is none', [], undefined],
  ])('%s', (_name, stays, place) => {
    expect(chooseStay(stays, charged)).toBe(place === undefined ? undefined : stays[place]);
  });
});

test('a record that is reported in time goes to its own session, however often the participant came back', () => {
  const gaps = fc.array(fc.tuple(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 600 })), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(gaps, fc.nat(), fc.integer({ min: 1, max: 30 }), (visits, chosen, delay) => {
      // In seconds: a visit, then an absence that is longer than the delay of reports.
      const stays: Stay[] = [];
      let at = 0;
      for (const [visit, absence] of visits) {
        stays.unshift({ from: new Date(at * 1_000), to: new Date((at + visit) * 1_000) });
        at += visit + absence + 30 + 3;
      }
      const own = stays[chosen % stays.length]!;
      const seconds = Math.min(30, (own.to!.getTime() - own.from.getTime()) / 1_000);
      // The last interval of the visit.
      const charged = new Date(own.to!.getTime() + delay * 1_000);
      const known = stays.filter(({ from }) => from <= charged);
      expect(chooseStay(known, { at: charged, seconds })).toBe(own);
    }),
  );
});
