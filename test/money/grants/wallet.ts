/**
 * A model of granted and paid credit in big integers. It goes through what happened one by one, and shares no code with
 * the service, which adds up.
 */

export type Happening =
  /** Usage, in micros. */
  | { readonly day: number; readonly what: 'usage'; readonly amount: bigint }
  /** A payment, refund, dispute or adjustment, signed. */
  | { readonly day: number; readonly what: 'paid'; readonly amount: bigint }
  /** `endDay`: usage of this day or later is not paid by it. */
  | {
      readonly day: number;
      readonly what: 'grant';
      readonly amount: bigint;
      readonly endDay: number | undefined;
    }
  /** `grant`: the how manieth. */
  | { readonly day: number; readonly what: 'void'; readonly grant: number };

export interface Lot {
  readonly amount: bigint;
  readonly endDay: number | undefined;
  left: bigint;
  /** What was left at the end, or when it was voided. */
  forfeited: bigint;
  isVoided: boolean;
}

export interface Wallet {
  /** Below zero: the tenant owes it. */
  paid: bigint;
  readonly lots: readonly Lot[];
}

/** What is left at the start of `day`. Later happenings are left out. */
export function walletAt(happenings: readonly Happening[], day: number): Wallet {
  const lots: Lot[] = [];
  let paid = 0n;
  for (const happening of happenings) {
    if (happening.day >= day) break;
    expire(lots, happening.day);
    if (happening.what === 'paid') {
      paid += happening.amount;
    } else if (happening.what === 'void') {
      const lot = lots[happening.grant]!;
      lot.forfeited += lot.left;
      lot.isVoided ||= lot.left > 0n;
      lot.left = 0n;
    } else if (happening.what === 'grant') {
      let { amount: left } = happening;
      for (; paid < 0n && left > 0n; paid += 1n) left -= 1n;
      const { amount, endDay } = happening;
      lots.push({ amount, endDay, left, forfeited: 0n, isVoided: false });
    } else {
      for (let unit = 0n; unit < happening.amount; unit += 1n) {
        const payer = firstToPay(lots);
        if (payer) payer.left -= 1n;
        else paid -= 1n;
      }
    }
  }
  expire(lots, day);
  return { paid, lots };
}

function expire(lots: readonly Lot[], day: number): void {
  for (const lot of lots) {
    if (lot.endDay === undefined || lot.endDay > day) continue;
    lot.forfeited += lot.left;
    lot.left = 0n;
  }
}

/** The earliest end first; the older of two with the same. */
function firstToPay(lots: readonly Lot[]): Lot | undefined {
  let first: Lot | undefined;
  for (const lot of lots) {
    if (lot.left === 0n) continue;
    if (!first || (lot.endDay ?? Infinity) < (first.endDay ?? Infinity)) first = lot;
  }
  return first;
}
