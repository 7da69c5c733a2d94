/**
 * The rate card: the price of a gigabyte, and the ceiling for a thousand participant-minutes.
 *
 * Source: specification 2.5 and 4.12. All prices are in micros. A card is a dated version that
 * never changes; every charge is stamped with the version that priced it.
 */
import { faultFinder, type Static, Type } from '../../base/lib/schema.ts';
import { microsOfDollars } from '../amount.ts';
import type { Role, Tier } from './role.ts';

export interface RateCard {
  readonly version: number;
  readonly currency: 'usd';
  readonly egressCostPerGib: bigint;
  readonly markupBasisPoints: number;
  readonly platformFeePerGib: bigint;
  readonly ceilingPer1000Minutes: Readonly<Record<Role, Readonly<Record<Tier, bigint>>>>;
}

/** A card before the database has given it a version. */
export type UnversionedRateCard = Omit<RateCard, 'version'>;

/** The paragraph with which `GET /v1/rates` explains a charge. */
export const MODEL =
  'Each usage record of a self-hosted relay is charged the platform fee on the bytes that the relay sent to ' +
  'the participant, and never more than the ceiling for the role, the tier and the time connected: ' +
  'min(platform_fee_per_gib x egress GiB, ceiling x participant-minutes / 1000). Prices are exact: the part ' +
  'of a micro-dollar that a charge cannot show is carried to the next one, so that the running total of a ' +
  'tenant is never more than half a micro-dollar from the exact sum.';

const DOLLARS = /^[0-9]{1,6}(\.[0-9]{1,6})?$/;
export const MARKUP_MAX = 1_000_000;

/** Dollars, with up to six digits before the point and after it. */
export const isPrice = (text: string) => DOLLARS.test(text);

const Dollars = Type.String({ pattern: DOLLARS.source });
const Tiers = Type.Object(
  { audio: Dollars, hd: Dollars, full_hd: Dollars, '2k': Dollars, '2k_plus': Dollars },
  { additionalProperties: false },
);
const RateCardFile = Type.Object(
  {
    currency: Type.Literal('usd'),
    egress_cost_per_gib: Dollars,
    markup_basis_points: Type.Integer({ minimum: 0, maximum: MARKUP_MAX }),
    platform_fee_per_gib: Dollars,
    ceiling_per_1000_participant_minutes: Type.Object(
      { host: Tiers, audience: Tiers, broadcast_audience: Tiers },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
);
const findFault = faultFinder(RateCardFile);

/** A rate card in files and in the database: amounts are decimal dollars in strings, like "0.60". */
export type RateCardFile = Static<typeof RateCardFile>;

/** A card as it is stored. */
export interface RateCardRow {
  readonly version: number;
  readonly effectiveAt: Date;
  readonly card: RateCardFile;
}

export const BUILT_IN_RATES: RateCardFile = {
  currency: 'usd',
  egress_cost_per_gib: '0.01',
  markup_basis_points: 1500,
  platform_fee_per_gib: '0.02',
  ceiling_per_1000_participant_minutes: {
    host: { audio: '0.60', hd: '1.50', full_hd: '3.00', '2k': '6.00', '2k_plus': '12.00' },
    audience: { audio: '0.30', hd: '0.80', full_hd: '1.60', '2k': '3.20', '2k_plus': '6.40' },
    broadcast_audience: { audio: '0.15', hd: '0.40', full_hd: '0.80', '2k': '1.60', '2k_plus': '3.20' },
  },
};

/**
 * Parse the content of a rate card file.
 *
 * Throws an `Error` whose message names the first invalid field.
 */
export function parseRateCard(file: unknown): UnversionedRateCard {
  const fault = findFault(file);
  if (fault) {
    const field = fault.path.slice(1) || 'the rate card';
    throw new Error(`${field} ${fault.message} (amounts are dollars in strings, like "0.60")`);
  }
  const card = file as RateCardFile;
  const ceilings = card.ceiling_per_1000_participant_minutes;
  return {
    currency: card.currency,
    egressCostPerGib: microsOfDollars(card.egress_cost_per_gib),
    markupBasisPoints: card.markup_basis_points,
    platformFeePerGib: microsOfDollars(card.platform_fee_per_gib),
    ceilingPer1000Minutes: {
      host: microsOfTiers(ceilings.host),
      audience: microsOfTiers(ceilings.audience),
      broadcast_audience: microsOfTiers(ceilings.broadcast_audience),
    },
  };
}

function microsOfTiers(tiers: Static<typeof Tiers>): Record<Tier, bigint> {
  return {
    audio: microsOfDollars(tiers.audio),
    hd: microsOfDollars(tiers.hd),
    full_hd: microsOfDollars(tiers.full_hd),
    '2k': microsOfDollars(tiers['2k']),
    '2k_plus': microsOfDollars(tiers['2k_plus']),
  };
}
