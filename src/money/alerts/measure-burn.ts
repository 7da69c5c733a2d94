/**
 * Measures again what usage takes, for tenants with thresholds of hours.
 *
 * A charge compares its balance with the floor that was measured last, so that it reads no usage. Any number of
 * processes may measure: they take turns by the lock of the account, and one that comes second finds it done.
 */
import type { Tx } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { renderTenantId, type TenantId } from '../../base/tenants/tenant.ts';
import type { EventDeps } from '../../events/event-deps.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { burnOf, WINDOWS } from '../runway/runway.ts';
import { readSpending } from '../runway/spent.sql.ts';
import { isToMeasure, listTenantsToMeasure, updateBurn } from './alert-thresholds.sql.ts';
import { settleAlerts } from './settle-alerts.ts';

/** The hour tells early that usage rises, and the day keeps an hour of silence from hiding the usual load. */
export const BURN_HOURS = [WINDOWS['1h'], WINDOWS['24h']];

const AT_ONCE = 1_000;

/** One that fails does not keep the others from being measured. */
export async function measureBurns(deps: EventDeps): Promise<void> {
  for (const tenant of await listTenantsToMeasure(deps.db, AT_ONCE)) {
    try {
      const isCrossed = await inTransaction(deps.db, (tx) => measureBurn(tx, tenant));
      if (isCrossed) deps.events.wake(tenant);
    } catch (err) {
      deps.log.error({ err, tenant: renderTenantId(tenant) }, 'measuring usage for alerts failed');
    }
  }
}

/** Returns whether the balance crosses a threshold that has moved. */
async function measureBurn(tx: Tx, tenant: TenantId): Promise<boolean> {
  const { balance, exempt } = await lockAccount(tx, tenant);
  if (!(await isToMeasure(tx, tenant))) return false;
  const { spent } = await readSpending(tx, tenant, BURN_HOURS);
  await updateBurn(tx, tenant, burnOf(spent));
  return !exempt && (await settleAlerts(tx, tenant, balance)).isCrossed;
}
