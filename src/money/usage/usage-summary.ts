/** Sums of usage over a period, by room, role, tier, and hour, day or month. */
import { renderAmount } from '../amount.ts';
import type { Calendar } from '../calendar/calendar.ts';
import type { Role, Tier } from '../pricing/role.ts';

/** By what sums can be grouped, in the order in which a row shows it. */
export const GROUPINGS = ['hour', 'day', 'month', 'room', 'role', 'tier'] as const;
export type Grouping = (typeof GROUPINGS)[number];
/** A row is of one of these. */
export const TIME_GROUPINGS = ['hour', 'day', 'month'] as const satisfies readonly Grouping[];

/** A year: a longer period is asked for in parts. */
export const SUMMARY_DAYS_MAX = 366;
export const SUMMARY_ROWS_MAX = 1_000;

export interface SummaryQuery {
  /** Each once; one of TIME_GROUPINGS at most. None: one row in all. */
  readonly groupBy: readonly Grouping[];
  /** Whose days and months; that of the tenant if it is left out. */
  readonly calendar?: Calendar;
  /** Whole hours, or starts of days in the time zone of the tenant. Hours are counted from `from`. */
  readonly from: Date;
  readonly to: Date;
  /** Only these; the empty one has the records without a room. */
  readonly rooms: readonly string[] | undefined;
  readonly limit: number;
  /** How many rows come before those that are wanted. */
  readonly skip: number;
}

/** `amount` and `unbilled` are in micros: what was charged, and what an exempt tenant would have been charged. */
export interface Measures {
  readonly records: bigint;
  readonly seconds: bigint;
  readonly egressBytes: bigint;
  readonly ingressBytes: bigint;
  readonly amount: bigint;
  readonly unbilled: bigint;
}

/** One group. It has the members that `groupBy` names. */
export interface SummaryRow extends Measures {
  /** The start of the hour, day or month in which the usage was charged; of days and months, in the time zone of the tenant. */
  readonly time?: Date;
  /** Empty for records without a room. */
  readonly room?: string;
  readonly role?: Role;
  readonly tier?: Tier;
}

export interface UsageSummary {
  /** By time if grouped by it, then the most expensive first. Groups without usage are left out. */
  readonly rows: readonly SummaryRow[];
  /** The sums of all groups, also those on other pages. */
  readonly total: Measures;
  /** How many there are, on all pages; 0 for a page after the last one. */
  readonly groups: bigint;
  readonly hasMore: boolean;
}

/** As answers and statements show them. */
export function renderMeasures({ records, seconds, egressBytes, ingressBytes, amount, unbilled }: Measures) {
  return {
    records,
    seconds,
    egress_bytes: egressBytes,
    ingress_bytes: ingressBytes,
    total: renderAmount(amount),
    unbilled: renderAmount(unbilled),
  };
}
