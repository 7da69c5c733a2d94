/** Add or remove one threshold of a tenant. */
import type { Actor } from '../../base/audit/actor.ts';
import type { Tx } from '../../base/db/pool.ts';
import { Failure, invalidField } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { THRESHOLDS_MAX, type Threshold } from './alert-threshold.ts';
import { listThresholds } from './alert-thresholds.sql.ts';
import { setAlerts } from './set-alerts.ts';

/** Fails with `invalid_request` if it is set already, and with `quota_exceeded`. */
export async function addAlert(tx: Tx, actor: Actor, tenant: TenantId, wanted: Threshold): Promise<void> {
  await lockAccount(tx, tenant);
  const before = await listThresholds(tx, tenant);
  if (before.some((each) => isSame(each, wanted))) throw invalidField('below', 'must be set once');
  if (before.length >= THRESHOLDS_MAX) {
    throw new Failure('quota_exceeded', { message: `limit reached: at most ${THRESHOLDS_MAX} thresholds` });
  }
  await setAlerts(tx, actor, tenant, [...before, wanted]);
}

/** Changes nothing if it is not set. */
export async function removeAlert(
  tx: Tx,
  actor: Actor,
  tenant: TenantId,
  unwanted: Threshold,
): Promise<void> {
  await lockAccount(tx, tenant);
  const before = await listThresholds(tx, tenant);
  const kept = before.filter((each) => !isSame(each, unwanted));
  if (kept.length < before.length) await setAlerts(tx, actor, tenant, kept);
}

function isSame(one: Threshold, other: Threshold): boolean {
  return one.kind === other.kind && one.below === other.below;
}
