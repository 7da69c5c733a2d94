/** Parameters of queries that several routes share. They arrive as texts; the schema has checked their form. */
import { invalidRequest } from '../../base/failure.ts';
import { Type } from '../../base/lib/schema.ts';

export { type Period, parsePeriod, parseTime, parseWholeHours } from '../http/period.ts';

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
