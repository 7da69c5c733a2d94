/** What the usage of a period would cost by another rate card, beside what it has cost. Changes nothing. */
import { findNow } from '../../base/db/find-now.sql.ts';
import type { Pool } from '../../base/db/pool.ts';
import { Failure, invalidRequest } from '../../base/failure.ts';
import type { Rounding } from '../pricing/carry.ts';
import { parseRateCard } from '../pricing/rate-card.ts';
import { findRateCard } from '../pricing/rate-cards.sql.ts';
import { simulatePeriod } from '../simulation/simulate-period.ts';
import type { Period } from '../simulation/usage-of-period.sql.ts';
import { chargedAfter, isSamePeriod, type Recomputed } from './correction.ts';
import { findCorrections } from './corrections.sql.ts';

export interface Recomputation {
  readonly period: Period;
  /** The version of the card that prices again. */
  readonly rateVersion: number;
  /** The rounding of old postings that do not name theirs. */
  readonly rounding: Rounding;
  readonly recordsMax: bigint | undefined;
  /** What a larger period may do instead, for the message. */
  readonly instead: string;
  /** Told of each step. */
  at?(what: string): void;
}

/**
 * The tenants that were charged in the period, in the order of their ids. Usage that was not charged (exempt tenants)
 * would not have been charged.
 *
 * Fails with `not_found` for a tenant or a card that does not exist, and with `invalid_request` for a period that is
 * not over or has more than `recordsMax` records.
 */
export async function recomputePeriod(db: Pool, options: Recomputation): Promise<readonly Recomputed[]> {
  const { period, rateVersion, ...rest } = options;
  const now = await findNow(db);
  if (period.to > now) {
    throw invalidRequest(
      `the period must be over: it is ${now.toISOString()} now. Its end may be a time before that`,
    );
  }
  const row = await findRateCard(db, rateVersion);
  if (!row) throw new Failure('not_found', { message: `there is no rate card of version ${rateVersion}` });
  const compared = await simulatePeriod(db, { ...rest, period, card: parseRateCard(row.card) });
  const corrections = Map.groupBy(await findCorrections(db, period), ({ tenant }) => tenant);
  return compared
    .filter(({ charged }) => charged.records > 0)
    .map(({ tenant, charged: { records, actual, simulated } }) => {
      const earlier = corrections.get(tenant) ?? [];
      return {
        tenant,
        records,
        reported: actual,
        charged: chargedAfter(
          actual,
          earlier.filter((each) => isSamePeriod(each, period)),
        ),
        recomputed: simulated,
        overlapped: earlier.find((each) => !isSamePeriod(each, period)),
      };
    });
}
