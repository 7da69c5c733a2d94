/** Charge what a relay reports. Source: specification 4.12. */

import type { TenantId } from '../../base/tenants/tenant.ts';
import type { Deps } from '../../doors/deps.ts';
import type { ChargeOutcome } from './bill.ts';
import type { UsageRecords } from './usage-records.ts';

/** The batch is charged as a whole or not at all; the answer comes from its commit. */
export async function chargeUsage(
  deps: Deps,
  tenant: TenantId,
  records: UsageRecords,
): Promise<ChargeOutcome> {
  const stop = deps.metrics.chargeDuration.startTimer();
  const outcome = await deps.charges.charge({ tenant, records });
  stop();
  deps.metrics.countCharge(records.length, outcome);
  deps.sightings.note(tenant, records);
  return outcome;
}
