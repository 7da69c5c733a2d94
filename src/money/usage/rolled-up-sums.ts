/** Which sums of usage are kept for days, weeks and months that are over. Hours have both kinds. */
import { LONG_PARTS, type Part, SHORT_PARTS } from './period-parts.ts';

/** One kind of sums: a table for each part, all with the same key. The time of a row has the name of the part. */
export interface RolledUpSums {
  readonly key: readonly ('room' | 'role' | 'tier')[];
  /** The column of `usage_rollups` with the midnight up to which a tenant has them. */
  readonly until: 'until' | 'details_until';
  readonly tables: readonly { readonly part: Part; readonly name: string }[];
  /** In which ways a period can be put together, besides hours. */
  readonly ways: readonly (readonly Part[])[];
}

/** By room. */
export const ROOM_SUMS: RolledUpSums = {
  key: ['room'],
  until: 'until',
  tables: [
    { part: 'day', name: 'usage_room_days' },
    { part: 'week', name: 'usage_room_weeks' },
  ],
  ways: [SHORT_PARTS],
};

/** By room, role and tier. */
export const DETAIL_SUMS: RolledUpSums = {
  key: ['room', 'role', 'tier'],
  until: 'details_until',
  tables: [
    { part: 'day', name: 'usage_detail_days' },
    { part: 'week', name: 'usage_detail_weeks' },
    { part: 'month', name: 'usage_detail_months' },
  ],
  ways: [SHORT_PARTS, LONG_PARTS],
};

export const ALL_SUMS = [ROOM_SUMS, DETAIL_SUMS] as const;

/** The table of hours has all sums. */
export function tableOf({ tables }: RolledUpSums, unit: Part | 'hour'): string {
  return tables.find(({ part }) => part === unit)?.name ?? 'usage_room_hours';
}

/** SQL of the end of the part that begins at `time`, whatever the time zone of the session. */
export function endOfPart(part: Part, time: string): string {
  return `((${time}) at time zone 'UTC' + interval '1 ${part}') at time zone 'UTC'`;
}
