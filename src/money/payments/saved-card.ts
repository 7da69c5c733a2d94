/** The card that automatic top-ups charge, as its holder knows it. */
import type Stripe from 'stripe';

/** A card that may be charged without its holder. Ids are the provider's. */
export interface SavedCard {
  readonly customerId: string;
  readonly paymentMethodId: string;
  readonly fingerprint: string;
  /** `undefined`: the provider is asked later. */
  readonly details: CardDetails | undefined;
}

export interface CardDetails {
  /** `visa`. */
  readonly brand: string;
  readonly last4: string;
  /** The first day on which the card no longer pays, in UTC: `2027-01-01`. */
  readonly endsOn: string;
}

/** `undefined`: the method is no card, or has no end. A card pays until the end of its month. */
export function readCardDetails({ card }: Pick<Stripe.PaymentMethod, 'card'>): CardDetails | undefined {
  if (!card) return undefined;
  const { brand, last4, exp_month: month, exp_year: year } = card;
  const isDate = Number.isInteger(year) && year >= 2000 && year < 9999 && month >= 1 && month <= 12;
  if (!isDate || !brand || !last4) return undefined;
  return { brand, last4, endsOn: new Date(Date.UTC(year, month, 1)).toISOString().slice(0, 10) };
}
