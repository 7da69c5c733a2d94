/** Raise and end alerts, in the transaction that moves the balance or a threshold. */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { AlertMarks } from '../accounts/alert-marks.ts';
import { thresholdCrossed } from './alert-events.ts';
import { findCrossed, marksOf } from './alert-threshold.ts';
import { listThresholds, turnThresholds } from './alert-thresholds.sql.ts';

export interface Settled {
  /** Which balances change the thresholds next. */
  readonly marks: AlertMarks;
  /** Whether there are events. */
  readonly isCrossed: boolean;
}

/**
 * Compare the balance with the thresholds of the tenant, and append one event for each that it crosses. The account is
 * locked, and the tenant is not exempt.
 */
export async function settleAlerts(tx: Tx, tenant: TenantId, balance: bigint): Promise<Settled> {
  const thresholds = await listThresholds(tx, tenant);
  const crossed = findCrossed(thresholds, balance);
  if (crossed.length > 0) {
    const now = await turnThresholds(tx, tenant, crossed);
    await appendEvents(
      tx,
      tenant,
      crossed.map((each) => thresholdCrossed(each, { balance, now })),
    );
  }
  return { marks: marksOf(thresholds, crossed), isCrossed: crossed.length > 0 };
}
