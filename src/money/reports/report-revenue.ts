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

/** Micros, summed over tenants. */
export interface Credit {
  readonly total: bigint;
  /** The sum of balances above zero: a liability. */
  readonly unused: bigint;
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
  /** The revenue of the month, as what it took from the credit. */
  readonly usage: bigint;
  readonly refunds: bigint;
  readonly disputes: bigint;
  readonly adjustments: bigint;
  /** What `charges recompute` gave back or took of usage of any month: they change the revenue. */
  readonly corrections: bigint;
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
  const sums = await withSnapshot(db, (snapshot) => sumRevenue(snapshot, month, tenant), { stopping });
  const { now, wrong, ...texts } = sums;
  const soFar = !isComplete(month, now);
  const credit = (unused: string, owed: string): Credit => ({
    total: BigInt(unused) + BigInt(owed),
    unused: BigInt(unused),
    owed: BigInt(owed),
  });
  const report = {
    month,
    soFar,
    asOf: now,
    opening: credit(texts.openingUnused, texts.openingOwed),
    payments: BigInt(texts.payments),
    usage: BigInt(texts.usage),
    refunds: BigInt(texts.refunds),
    disputes: BigInt(texts.disputes),
    adjustments: BigInt(texts.adjustments),
    corrections: BigInt(texts.corrections),
    closing: credit(texts.closingUnused, texts.closingOwed),
    unbilled: BigInt(texts.unbilled),
  };
  checkSum(report, wrong);
  return report;
}

function checkSum(report: RevenueReport, wrong: readonly string[]): void {
  const { opening, payments, usage, refunds, disputes, adjustments, corrections, closing, month } = report;
  const expected = opening.total + payments + usage + refunds + disputes + adjustments + corrections;
  if (expected === closing.total && wrong.length === 0) return;
  const of = wrong.length > 0 ? ` (${wrong.join(', ')})` : '';
  throw new Error(
    `the ledger of ${month} does not add up${of}: its postings lead to ${displayMicros(expected)}, and it ` +
      `ends at ${displayMicros(closing.total)}. Run verify`,
  );
}
