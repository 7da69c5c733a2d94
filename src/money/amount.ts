/**
 * Money: whole micros (millionths of a US dollar) in a `bigint`, everywhere inside the service.
 *
 * Source: specification 2.1.
 */

export const MICROS_PER_CENT = 10_000n;

export const MICROS_PER_DOLLAR = 1_000_000n;

/** Money as the wire shows it. `micros` is rendered as a JSON integer. */
export interface Amount {
  readonly micros: bigint;
  readonly display: string;
}

/** `$1.500000`, or `-$0.000001`. */
export function displayMicros(micros: bigint): string {
  const size = micros < 0n ? -micros : micros;
  const fraction = (size % MICROS_PER_DOLLAR).toString().padStart(6, '0');
  return `${micros < 0n ? '-' : ''}$${size / MICROS_PER_DOLLAR}.${fraction}`;
}

/** The same without the dollar sign, for columns of numbers. */
export function plainDollars(micros: bigint): string {
  return displayMicros(micros).replace('$', '');
}

/** `$1.50`, for payment pages. Fractions of a cent are cut off. */
export function displayCents(micros: bigint): string {
  return displayMicros(micros).slice(0, -4);
}

/** Decimal dollars, such as `1` or `1.5`, in micros. The text must be valid, with 6 decimals at most. */
export function microsOfDollars(dollars: string): bigint {
  const [whole = '', fraction = ''] = dollars.split('.');
  return BigInt(whole + fraction.padEnd(6, '0'));
}

/** What an operator gives or takes: `12.50` or `-3`, in micros. `undefined`: it is no such amount, too large, or zero. */
export function parseSignedDollars(text: string): bigint | undefined {
  const [, sign, size = '0'] = /^(-?)([0-9]{1,9}(?:\.[0-9]{1,6})?)$/.exec(text) ?? [];
  const micros = microsOfDollars(size);
  if (micros === 0n) return undefined;
  return sign ? -micros : micros;
}

export function renderAmount(micros: bigint): Amount {
  return { micros, display: displayMicros(micros) };
}

/** Whole cents, as request bodies and the payment provider carry them, in micros. */
export function microsOfCents(cents: number): bigint {
  return BigInt(cents) * MICROS_PER_CENT;
}

/** Micros in whole cents, for the payment provider. The amounts that we send are always whole cents. */
export function centsOfMicros(micros: bigint): number {
  return Number(micros / MICROS_PER_CENT);
}
