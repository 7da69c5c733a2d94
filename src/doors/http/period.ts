/** Periods of a request, from the texts in which they arrive. */
import { invalidField } from '../../base/failure.ts';
import { readTime } from '../../base/lib/time-text.ts';
import { endOf, monthOf, startOf } from '../../money/month.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

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

/** A period of whole hours. `to` is by default the end of this hour, and `from` thirty days before. */
export function parseWholeHours(
  query: { readonly from?: string; readonly to?: string },
  daysMax: number,
  now = Date.now(),
): Period {
  const to = parseTime('to', query.to) ?? new Date(Math.ceil((now + 1) / HOUR_MS) * HOUR_MS);
  const from = parseTime('from', query.from) ?? new Date(to.getTime() - 30 * DAY_MS);
  return checkWhole({ from, to }, { unit: 'hour', daysMax });
}

/** A period of whole days. `to` is by default the end of this month, and `from` the start of the month that it ends in. */
export function parseWholeDays(
  query: { readonly from?: string; readonly to?: string },
  daysMax: number,
  now = new Date(),
): Period {
  const to = parseTime('to', query.to) ?? endOf(monthOf(now));
  const from = parseTime('from', query.from) ?? startOf(monthOf(new Date(to.getTime() - 1)));
  return checkWhole({ from, to }, { unit: 'day', daysMax });
}

const UNIT_MS = { hour: HOUR_MS, day: DAY_MS } as const;

function checkWhole(
  { from, to }: Period,
  { unit, daysMax }: { readonly unit: keyof typeof UNIT_MS; readonly daysMax: number },
): Period {
  for (const [name, time] of Object.entries({ from, to })) {
    if (time.getTime() % UNIT_MS[unit] !== 0) throw invalidField(name, `must be a whole ${unit} (UTC)`);
  }
  refuseReversed(from, to);
  if (to.getTime() - from.getTime() > daysMax * DAY_MS) {
    throw invalidField('from', `must be at most ${daysMax} days before to`);
  }
  return { from, to };
}

function refuseReversed(from: Date | undefined, to: Date | undefined): void {
  if (from && to && from >= to) throw invalidField('from', 'must be before to');
}
