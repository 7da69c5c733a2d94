/**
 * What usage costs, as the specification says (4.12, charging rule 1), in whole numbers over one denominator.
 *
 * `min(platform_fee_per_gib x egress_GiB, ceiling(role, tier) x seconds / 60000)`, with a GiB of 2^30 bytes.
 */

/** Micros are counted in parts of this: both quotients are whole over it. */
export const PARTS = 2n ** 30n * 60_000n;

/** How much finer it is than the denominator of the carries that the service stores, 2^30 x 1875. */
export const PARTS_OF_A_CARRY = 32n;

/** As it is stored: dollars as decimal texts. */
export interface Card {
  readonly platform_fee_per_gib: string | number;
  readonly ceiling_per_1000_participant_minutes: Readonly<
    Record<string, Readonly<Record<string, string | number>>>
  >;
}

export interface Measured {
  readonly role: string;
  readonly tier: string;
  readonly seconds: bigint;
  readonly egress: bigint;
}

export interface ExactPrice {
  readonly parts: bigint;
  /** The ceiling is lower than the fee. */
  readonly isCapped: boolean;
}

export function exactPrice(card: Card, { role, tier, seconds, egress }: Measured): ExactPrice {
  const perGib = microsOfDollars(card.platform_fee_per_gib);
  const per1000Minutes = microsOfDollars(card.ceiling_per_1000_participant_minutes[role]![tier]!);
  const fee = perGib * egress * 60_000n;
  const ceiling = per1000Minutes * seconds * 2n ** 30n;
  return ceiling < fee ? { parts: ceiling, isCapped: true } : { parts: fee, isCapped: false };
}

/** What rounding has left over. It starts at a half, so that the first charge rounds to the nearest micro. */
export class Carry {
  parts = PARTS / 2n;

  /** The whole micros of a price and of what was left over before. */
  take({ parts }: Pick<ExactPrice, 'parts'>): bigint {
    const sum = this.parts + parts;
    this.parts = sum % PARTS;
    return sum / PARTS;
  }
}

function microsOfDollars(dollars: string | number): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(dollars)) ?? [];
  if (whole === undefined || /[1-9]/.test(fraction.slice(6))) throw new Error(`no amount: ${dollars}`);
  const micros = BigInt(whole) * 1_000_000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
  return sign ? -micros : micros;
}
