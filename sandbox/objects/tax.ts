/** Tax at a rate of the sandbox's own. The merchant is registered in one country, and collects it there only. */

export const TAXED_COUNTRY = 'US';

/** 8.25 %: most amounts have to be rounded. */
const TAX_BASIS_POINTS = 825;

/** Cents of tax on an amount without tax, half a cent rounded up. */
export function taxOn(amount: number, country: string | null): number {
  return country === TAXED_COUNTRY ? Math.floor((amount * TAX_BASIS_POINTS + 5_000) / 10_000) : 0;
}
