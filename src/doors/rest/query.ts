/** Parameters of queries that several routes share. They arrive as texts; the schema has checked their form. */
import { invalidRequest } from '../../base/failure.ts';
import { Type } from '../../base/lib/schema.ts';
import { readTime } from '../../base/lib/time-text.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A day, or a time with its offset from UTC. */
const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** `from` and `to` of a period. */
export const periodFields = {
  from: Type.Optional(
    Type.String({
      description: 'Start of the period: a day (UTC) or a time, such as `2026-11-01T00:00:00Z`',
    }),
  ),
  to: Type.Optional(
    Type.String({ description: 'End of the period; what happened at that time is not in it' }),
  ),
};

export function limitField(max: number, usual: number) {
  return Type.Optional(
    Type.String({
      pattern: '^[1-9][0-9]{0,5}$',
      description: `How many at once: at most ${max}, ${usual} if it is left out`,
    }),
  );
}

export function parseLimit(text: string | undefined, max: number, usual: number): number {
  const limit = text === undefined ? usual : Number(text);
  if (limit > max) throw invalidRequest(`limit must be <= ${max}`);
  return limit;
}

/** `undefined` if it is left out. */
export function parseTime(name: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const time = readTime(text, TIME);
  if (!time) throw invalidRequest(`${name} must be a day or a time such as 2026-11-01T00:00:00Z`);
  return time;
}

export interface Period {
  readonly from: Date;
  readonly to: Date;
}

/** Either end may be open. */
export function parsePeriod(query: { readonly from?: string; readonly to?: string }): Partial<Period> {
  const [from, to] = [parseTime('from', query.from), parseTime('to', query.to)];
  refuseReversed(from, to);
  return { ...(from && { from }), ...(to && { to }) };
}

/** A period of whole hours. `to` is by default the end of this hour, and `from` thirty days before. */
export function parseWholeHours(
  query: { readonly from?: string; readonly to?: string },
  daysMax: number,
  now = Date.now(),
): Period {
  const to = parseTime('to', query.to) ?? new Date(Math.ceil((now + 1) / HOUR_MS) * HOUR_MS);
  const from = parseTime('from', query.from) ?? new Date(to.getTime() - 30 * DAY_MS);
  for (const [name, time] of Object.entries({ from, to })) {
    if (time.getTime() % HOUR_MS !== 0) throw invalidRequest(`${name} must be a whole hour (UTC)`);
  }
  refuseReversed(from, to);
  if (to.getTime() - from.getTime() > daysMax * DAY_MS) {
    throw invalidRequest(`from must be at most ${daysMax} days before to`);
  }
  return { from, to };
}

function refuseReversed(from: Date | undefined, to: Date | undefined): void {
  if (from && to && from >= to) throw invalidRequest('from must be before to');
}
