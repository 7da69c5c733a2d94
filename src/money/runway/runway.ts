/** How long the credit of a tenant lasts, if usage goes on as it did. Amounts are in micros. */

/** Over how many hours, up to now, usage is looked at. */
export const WINDOWS = { '1h': 1, '24h': 24, '7d': 168 } as const;
export type Window = keyof typeof WINDOWS;
export const WINDOW_NAMES = Object.keys(WINDOWS) as Window[];

/** How many of the rooms that cost most are shown. */
export const ROOMS_SHOWN = 10;

const HOUR_MS = 3_600_000n;
/** The end of the year 9999: a time after it has no usual text. */
const TIME_MAX_MS = 253_402_300_799_999n;
/** Beyond this, the database's thresholds make no difference. It has 64 bits. */
const BURN_MAX = 1n << 62n;

/** What usage took in a window. */
export interface Spent {
  readonly hours: number;
  readonly spent: bigint;
}

export interface Left {
  /** How long the balance lasts, cut to hundredths; 0 if nothing is left, `null` if nothing is used. */
  readonly hours: number | null;
  /** `null` if nothing is left, if nothing is used, and after the year 9999. */
  readonly emptyAt: Date | null;
}

export interface Burn extends Left {
  readonly window: Window;
  readonly spent: bigint;
  readonly perHour: bigint;
}

export interface RoomShare {
  /** Empty for records without a room. */
  readonly room: string;
  readonly amount: bigint;
  /** Its part of all that was spent in the same hours: from 0 to 1. */
  readonly share: number;
}

/** What is spent in an hour, rounded up: whatever was used, it is not nothing. */
export function perHour({ hours, spent }: Spent): bigint {
  const size = BigInt(hours);
  return (spent + size - 1n) / size;
}

/** The burn that thresholds of hours use: the largest, so that an alert comes early rather than late. */
export function burnOf(spent: readonly Spent[]): bigint {
  const most = spent.map(perHour).reduce((a, b) => (a > b ? a : b), 0n);
  return most < BURN_MAX ? most : BURN_MAX;
}

export function leftOf(balance: bigint, burn: bigint, now: Date): Left {
  if (burn === 0n) return { hours: null, emptyAt: null };
  if (balance <= 0n) return { hours: 0, emptyAt: null };
  const at = BigInt(now.getTime()) + (balance * HOUR_MS) / burn;
  return {
    hours: Number((balance * 100n) / burn) / 100,
    emptyAt: at <= TIME_MAX_MS ? new Date(Number(at)) : null,
  };
}

/** To the millionth. */
export function shareOf(amount: bigint, total: bigint): number {
  return total === 0n ? 0 : Number((amount * 1_000_000n) / total) / 1_000_000;
}
