/** Periods of budgets. A tenant's days and months begin here. */

export const PERIODS = ['day', 'month', 'total'] as const;
export type Period = (typeof PERIODS)[number];

/** When the period that contains `time` began, in UTC. One in all begins before everything. */
export function startOfPeriod(period: Period, time: Date): Date {
  if (period === 'total') return new Date(0);
  return new Date(
    Date.UTC(time.getUTCFullYear(), time.getUTCMonth(), period === 'day' ? time.getUTCDate() : 1),
  );
}
