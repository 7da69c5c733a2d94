/** Charge what a relay reports. Source: specification 4.12. */

import type { BaseDeps } from '../../base/deps.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { RateCards } from '../pricing/rate-cards.ts';
import type { Rounding } from '../pricing/usage-price.ts';
import type { ChargeOutcome } from './bill.ts';
import type { ChargeQueue } from './charge-queue.ts';
import type { UsageRecords } from './usage-records.ts';

export interface ChargeDeps extends BaseDeps {
  readonly rates: RateCards;
  readonly charges: ChargeQueue;
  /** Learns from the records which participants were present. */
  readonly sightings: { note(tenant: TenantId, records: UsageRecords): void };
  /** Tells the worker of this process that an automatic top-up may be due. A lost call only delays it. */
  readonly wakeTopUps: () => void;
  readonly config: { readonly billingRounding: Rounding };
}

/** The batch is charged as a whole or not at all; the answer comes from its commit. */
export async function chargeUsage(
  deps: ChargeDeps,
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
