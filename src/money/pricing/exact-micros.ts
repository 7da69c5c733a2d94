/** Exact amounts in micros, for people: fractions over PRICE_DENOMINATOR as decimals. */
import { PRICE_DENOMINATOR } from './usage-price.ts';

const PLACES_MIN = 6;
/** Two different fractions over PRICE_DENOMINATOR never have the same decimals. */
const PLACES_MAX = 13;

/** Exactly `numerator` / PRICE_DENOMINATOR micros. `decimal` is the same, rounded to 13 places. */
export interface ExactMicros {
  readonly numerator: bigint;
  readonly decimal: string;
}

export function exactMicros(numerator: bigint): ExactMicros {
  return { numerator, decimal: displayFraction(numerator, PRICE_DENOMINATOR, PLACES_MAX) };
}

/**
 * A fraction that is not negative, with 6 to `placesMax` decimals: `3.500000` for 7 / 2.
 *
 * Rounded half-up if it has more. Not every fraction ends: a ceiling for 20 seconds has thirds.
 */
export function displayFraction(numerator: bigint, denominator: bigint, placesMax: number): string {
  const scaled = numerator * 10n ** BigInt(placesMax);
  const rounded = (2n * scaled + denominator) / (2n * denominator);
  const digits = rounded.toString().padStart(placesMax + 1, '0');
  const fraction = digits.slice(-placesMax).replace(/0+$/, '');
  return `${digits.slice(0, -placesMax)}.${fraction.padEnd(PLACES_MIN, '0')}`;
}
