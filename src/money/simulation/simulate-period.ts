/** Prices the usage of a period with a draft of a rate card. Changes nothing. */
import type { Pool } from '../../base/db/pool.ts';
import { withSnapshot } from '../../base/db/snapshot.ts';
import { Failure } from '../../base/failure.ts';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import type { Rounding } from '../pricing/carry.ts';
import type { UnversionedRateCard } from '../pricing/rate-card.ts';
import { readRecords } from '../records/read-records.ts';
import { CardSimulation, type ComparedTenant } from './simulate-card.ts';
import { countRecords, type Period } from './usage-of-period.sql.ts';

export interface PeriodSimulation {
  readonly card: UnversionedRateCard;
  readonly period: Period;
  /** The rounding of old postings that do not name theirs. */
  readonly rounding: Rounding;
  /** More records are refused; `undefined`: any number. */
  readonly recordsMax: bigint | undefined;
  /** What a larger period may do instead, for the message. */
  readonly instead: string;
  /** Told of each step. */
  at?(what: string): void;
}

/** Fails with `not_found` for a tenant that does not exist, and with `invalid_request` if the period has more than `recordsMax` records. */
export async function simulatePeriod(
  db: Pool,
  { card, period, rounding, recordsMax, instead, at }: PeriodSimulation,
): Promise<readonly ComparedTenant[]> {
  if (period.tenant !== undefined) await getTenant(db, period.tenant);
  return withSnapshot(db, async (snapshot) => {
    at?.('counting records');
    const count = await countRecords(snapshot, period);
    if (recordsMax !== undefined && count > recordsMax) {
      const message = `the period has ${count} records, more than ${recordsMax}: ${instead}`;
      throw new Failure('invalid_request', { message });
    }
    const simulation = new CardSimulation(snapshot, card, rounding);
    let done = 0;
    at?.(`sorting ${count} records`);
    for await (const records of readRecords(snapshot, period)) {
      await simulation.add(records);
      done += records.length;
      at?.(`pricing: ${done} of ${count} records`);
    }
    return simulation.tenants;
  });
}
