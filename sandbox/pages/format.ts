/** Formats amounts, dates and cards. */

import { type Html, html } from '@boxoffice/pages/html';
import type { Instrument } from '../objects/cards.ts';
import { instrumentOf, type PaymentMethod } from '../objects/payment-method.ts';

/** `amount` is in the smallest unit of the currency. */
export function formatAmount(amount: number, currency: string): string {
  try {
    const format = new Intl.NumberFormat('en-US', { style: 'currency', currency });
    const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
    return format.format(amount / 10 ** digits);
  } catch {
    return `${amount} ${currency.toUpperCase()}`;
  }
}

/** Created for the first page that shows a time: it loads 8 MB of language data. */
let dateFormat: Intl.DateTimeFormat | undefined;

/** `seconds` since 1970. */
export function formatTime(seconds: number): Html {
  dateFormat ??= new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'short',
    timeZone: 'UTC',
  });
  const date = new Date(seconds * 1000);
  return html`<time datetime="${date.toISOString()}">${dateFormat.format(date)} UTC</time>`;
}

const BRANDS: Record<string, string> = { visa: 'Visa', mastercard: 'Mastercard', amex: 'American Express' };

export function formatInstrument({ brand, last4 }: Instrument): Html {
  const name = BRANDS[brand] ?? brand;
  return html`<span>${name} <span aria-hidden="true">••••</span><span class="hidden"> ending in</span> ${last4}</span>`;
}

export function formatExpiry(method: PaymentMethod): string {
  if (instrumentOf(method).type !== 'card') return '';
  return `expires ${String(method.expMonth).padStart(2, '0')}/${method.expYear}`;
}
