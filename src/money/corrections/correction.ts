/** A wrong charge undone: what usage of a period cost is replaced by what another rate card makes of it. */
import type { TenantId } from '../../base/tenants/tenant.ts';

/** From `from` on and before `to`, by the times of the postings. */
export interface CorrectedPeriod {
  readonly from: Date;
  readonly to: Date;
}

/** A correction that was posted. `amount`: micros, negative if it took credit. */
export interface Correction extends CorrectedPeriod {
  readonly tenant: TenantId;
  readonly amount: bigint;
}

/** The usage of a tenant in a period, priced again. Amounts are in micros. */
export interface Recomputed {
  readonly tenant: TenantId;
  readonly records: number;
  /** What it cost when it was reported. */
  readonly reported: bigint;
  /** What it has cost in the end, with earlier corrections of this period. */
  readonly charged: bigint;
  /** What the other card makes of it. */
  readonly recomputed: bigint;
  /** A correction of another period that this one would change again. Then nothing can be corrected. */
  readonly overlapped: CorrectedPeriod | undefined;
}

/** The sums of a tenant, or of several. */
export type RecomputedSums = Pick<Recomputed, 'records' | 'charged' | 'recomputed'>;

/** What is given back to the tenant; negative: what is taken. */
export function owedBy({ charged, recomputed }: Omit<RecomputedSums, 'records'>): bigint {
  return charged - recomputed;
}

/** What usage has cost in the end, after the corrections of its period so far. */
export function chargedAfter(reported: bigint, corrections: readonly Correction[]): bigint {
  return corrections.reduce((left, { amount }) => left - amount, reported);
}

/** Both name the same usage. Another period that shares some of it cannot be corrected. */
export function isSamePeriod(one: CorrectedPeriod, other: CorrectedPeriod): boolean {
  return one.from.getTime() === other.from.getTime() && one.to.getTime() === other.to.getTime();
}

/** As ISO 8601 writes an interval: the reference of the posting. */
export function textOfPeriod({ from, to }: CorrectedPeriod): string {
  return `${from.toISOString()}/${to.toISOString()}`;
}
