/** Periods of a request, from the texts in which they arrive. */
import { invalidField } from '../../base/failure.ts';
import { readTime } from '../../base/lib/time-text.ts';
import { type Calendar, type Day, daysLater } from '../../money/calendar/calendar.ts';
import { endOf, monthOf, startOf } from '../../money/month.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** That of `2026-11-01`. */
const DAY_LENGTH = 10;

/** A day, or a time with its offset from UTC. */
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** `undefined` if it is left out. */
export function parseTime(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = readTime(text, TIME);
  if (!time) throw invalidField(name, 'must be a day or a time such as 2026-11-01T00:00:00Z');
  return time;
}

export interface Period {
  readonly from: Date;
  readonly to: Date;
}

/** Either end may be open. */
export interface OpenPeriod {
  readonly from: Date | undefined;
  readonly to: Date | undefined;
}

export function parsePeriod(query: { readonly from?: string; readonly to?: string }): OpenPeriod {
  const [from, to] = [parseTime('from', query.from), parseTime('to', query.to)];
  refuseReversed(from, to);
  return { from, to };
}

/**
 * A period of whole hours, or of days of the tenant. `to` is by default the end of this hour, and `from` thirty days before. A text
 * without a time is a day of the tenant.
 */
export function parseWholeHours(
  query: { readonly from?: string; readonly to?: string },
  daysMax: number,
  calendar: Calendar,
  now = Date.now(),
): Period {
  const to = parseDayOrTime('to', query.to, calendar) ?? new Date(Math.ceil((now + 1) / HOUR_MS) * HOUR_MS);
  const from =
    parseDayOrTime('from', query.from, calendar) ??
    (isWholeHour(to)
      ? new Date(to.getTime() - 30 * DAY_MS)
      : calendar.startOfDay(daysLater(calendar.dayOf(to), -30)));
  for (const [name, time] of Object.entries({ from, to })) {
    if (!isWholeHour(time) && calendar.startOfDay(calendar.dayOf(time)).getTime() !== time.getTime()) {
      throw invalidField(name, 'must be a whole hour (UTC), or the start of a day in your time zone');
    }
  }
  return checkLength({ from, to }, daysMax);
}

/** A period of whole days, in UTC. `to` is by default the end of this month, and `from` the start of the month that it ends in. */
export function parseWholeDays(
  query: { readonly from?: string; readonly to?: string },
  daysMax: number,
  now = new Date(),
): Period {
  const to = parseTime('to', query.to) ?? endOf(monthOf(now));
  const from = parseTime('from', query.from) ?? startOf(monthOf(new Date(to.getTime() - 1)));
  for (const [name, time] of Object.entries({ from, to })) {
    if (time.getTime() % DAY_MS !== 0) throw invalidField(name, 'must be a whole day (UTC)');
  }
  return checkLength({ from, to }, daysMax);
}

function checkLength({ from, to }: Period, daysMax: number): Period {
  refuseReversed(from, to);
  if (to.getTime() - from.getTime() > daysMax * DAY_MS) {
    throw invalidField('from', `must be at most ${daysMax} days before to`);
  }
  return { from, to };
}

function parseDayOrTime(name: string, text: string | undefined, calendar: Calendar): Date | undefined {
  const time = parseTime(name, text);
  return time && text!.length === DAY_LENGTH ? calendar.startOfDay(text as Day) : time;
}

function isWholeHour(time: Date): boolean {
  return time.getTime() % HOUR_MS === 0;
}

export function refuseReversed(from: Date | undefined, to: Date | undefined): void {
  if (from && to && from >= to) throw invalidField('from', 'must be before to');
}
