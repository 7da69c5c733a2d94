/**
 * Usage records: a relay reports one for each participant and interval.
 *
 * Source: specification 2.6.
 */
import type { Usage } from '../pricing/usage-price.ts';

export const RECORDS_MAX = 5_000;
export const RECORD_ID_MAX = 200;
export const SECONDS_MAX = 86_400;
/** Clocks of relays count seconds a little differently from the database. */
export const CLOCK_SLACK_SECONDS = 2;

/** Stands for the name of a person who was erased. The migration `0015_people.sql` allows no other change of a name. */
export const ERASED = '(erased)';

export interface UsageRecord extends Usage {
  readonly id: string;
  readonly room: string | undefined;
  readonly participant: string | undefined;
  readonly ingressBytes: bigint;
}
