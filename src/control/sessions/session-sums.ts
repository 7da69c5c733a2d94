/** Sums of the usage of sessions over days and months, by what a session has: its participant, its key, its customer. */
import type { Measures } from '../../money/usage/usage-summary.ts';

/** By what sums of sessions can be grouped. */
export const SESSION_GROUPINGS = ['participant', 'key', 'customer'] as const;
export type SessionGrouping = (typeof SESSION_GROUPINGS)[number];

/** The spans of time, in UTC, of which there are sums. */
export const SESSION_SPANS = ['day', 'month'] as const;
export type SessionSpan = (typeof SESSION_SPANS)[number];

/** What the usage of sessions that was charged on one day adds to a group. */
export interface DaySum extends Measures {
  readonly by: SessionGrouping;
  /** In UTC, such as `2026-11-01`. */
  readonly day: string;
  /** Empty: the session has none. */
  readonly name: string;
}

export interface SessionSumsQuery {
  readonly by: SessionGrouping;
  /** A row for each; `undefined`: one for the whole period. */
  readonly every: SessionSpan | undefined;
  /** Whole days. */
  readonly from: Date;
  readonly to: Date;
  /** Only these. */
  readonly names: readonly string[] | undefined;
  readonly limit: number;
  /** How many rows come before those that are wanted. */
  readonly skip: number;
}

/** One group. */
export interface SessionSumsRow extends Measures {
  /** The start of the day or month in which the usage was charged, if each is asked for. */
  readonly time?: Date;
  /** Empty for sessions without one. */
  readonly name: string;
}
