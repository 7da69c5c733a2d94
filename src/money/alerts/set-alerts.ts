/** Replace the thresholds of a tenant. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import { changedFields } from '../../base/audit/audit-entry.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { burnOf } from '../runway/runway.ts';
import { readSpending } from '../runway/spent.sql.ts';
import type { SetThreshold, Threshold } from './alert-threshold.ts';
import { listThresholds, replaceThresholds } from './alert-thresholds.sql.ts';
import { BURN_HOURS } from './measure-burn.ts';
import { settleAlerts } from './settle-alerts.ts';

/**
 * One that was set before stays as it is: raised or not. One that is new is raised at once if the balance is below it,
 * and one that is left out ends without an event. Returns all thresholds.
 */
export async function setAlerts(
  tx: Tx,
  actor: Actor,
  tenant: TenantId,
  wanted: readonly Threshold[],
): Promise<SetThreshold[]> {
  const { balance, exempt } = await lockAccount(tx, tenant);
  const before = await listThresholds(tx, tenant);
  const { spent } = await readSpending(tx, tenant, BURN_HOURS);
  await replaceThresholds(tx, tenant, wanted, burnOf(spent));
  if (!exempt) await settleAlerts(tx, tenant, balance);
  const after = await listThresholds(tx, tenant);
  const changed = changedFields({ thresholds: before.map(audited) }, { thresholds: after.map(audited) });
  if (changed) await appendAudit(tx, tenant, actor, { action: 'alerts_changed', subject: null, ...changed });
  return after;
}

function audited({ kind, below }: Threshold) {
  return kind === 'balance' ? { kind, below_micros: below } : { kind, below_hours: below };
}
