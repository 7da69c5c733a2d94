/**
 * The month of an accountant: from the credit at its start to the credit at its end.
 *
 * Credit that was paid for and not used is a liability. It becomes revenue when usage is charged.
 */
import type { Pool } from '../../base/db/pool.ts';
import { withSnapshot } from '../../base/db/snapshot.ts';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { displayMicros } from '../amount.ts';
import type { Month } from '../month.ts';
import { isComplete } from '../statements/statement.ts';
import { sumRevenue } from './revenue.sql.ts';
import { sumGranted } from './sum-granted.ts';

/** Micros, summed over tenants. */
export interface Credit {
  readonly total: bigint;
  /** The sum of balances above zero: a liability. */
  readonly unused: bigint;
  /** What of the total was granted, and never paid. */
  readonly granted: bigint;
  /** The sum of balances below zero, as a negative number: a receivable. */
  readonly owed: bigint;
}

/** Micros. Changes of credit are signed: usage is negative. */
export interface RevenueReport {
  readonly month: Month;
  /** The month goes on; the report holds what there was at `asOf`. */
  readonly soFar: boolean;
  readonly asOf: Date;
  readonly opening: Credit;
  readonly payments: bigint;
  /** What usage took from the credit. It is the revenue of the month, except for what grants paid. */
  readonly usage: bigint;
  /** What grants paid of it, and of debts of before. */
  readonly paidByGrants: bigint;
  readonly refunds: bigint;
  readonly disputes: bigint;
  readonly adjustments: bigint;
  /** What `charges recompute` gave back or took of usage of any month: they change the revenue. */
  readonly corrections: bigint;
  readonly grants: bigint;
  /** What expired or was voided. */
  readonly grantsEnded: bigint;
  readonly closing: Credit;
  /** What the usage of exempt tenants would have cost. It is not part of any sum. */
  readonly unbilled: bigint;
}

/**
 * Adding a month up may take longer than statements of the pool may, so it has a connection of its own, which ends when
 * `stopping` is aborted. Fails with `not_found`, or with `invalid_request` for a month that has not begun, and throws if
 * the ledger does not add up.
 */
export async function reportRevenue(
  db: Pool,
  month: Month,
  tenant: TenantId | undefined,
  stopping?: AbortSignal,
): Promise<RevenueReport> {
  if (tenant !== undefined) await getTenant(db, tenant);
  const { now, wrong, granted, ...texts } = await withSnapshot(
    db,
    async (snapshot) => ({
      ...(await sumRevenue(snapshot, month, tenant)),
      granted: await sumGranted(snapshot, month, tenant),
    }),
    { stopping },
  );
  const soFar = !isComplete(month, now);
  const credit = (unused: string, owed: string, ofGrants: bigint): Credit => ({
    total: BigInt(unused) + BigInt(owed),
    unused: BigInt(unused),
    owed: BigInt(owed),
    granted: ofGrants,
  });
  const report = {
    month,
    soFar,
    asOf: now,
    opening: credit(texts.openingUnused, texts.openingOwed, granted.opening),
    payments: BigInt(texts.payments),
    usage: BigInt(texts.usage),
    paidByGrants: granted.closing - granted.opening - BigInt(texts.grants) - BigInt(texts.grantsEnded),
    refunds: BigInt(texts.refunds),
    disputes: BigInt(texts.disputes),
    adjustments: BigInt(texts.adjustments),
    corrections: BigInt(texts.corrections),
    grants: BigInt(texts.grants),
    grantsEnded: BigInt(texts.grantsEnded),
    closing: credit(texts.closingUnused, texts.closingOwed, granted.closing),
    unbilled: BigInt(texts.unbilled),
  };
  checkSum(report, wrong);
  return report;
}

function checkSum(report: RevenueReport, wrong: readonly string[]): void {
  const { opening, payments, usage, refunds, disputes, adjustments, closing, month } = report;
  const { corrections, grants, grantsEnded } = report;
  const changes = [payments, usage, refunds, disputes, adjustments, corrections, grants, grantsEnded];
  const expected = changes.reduce((total, change) => total + change, opening.total);
  if (expected === closing.total && wrong.length === 0) return;
  const of = wrong.length > 0 ? ` (${wrong.join(', ')})` : '';
  throw new Error(
    `the ledger of ${month} does not add up${of}: its postings lead to ${displayMicros(expected)}, and it ` +
      `ends at ${displayMicros(closing.total)}. Run verify`,
  );
}
