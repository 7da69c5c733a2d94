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

/** What is left of a grant that has an end in the future. */
export interface EndingCredit {
  readonly left: bigint;
  readonly expiresAt: Date;
}

export interface Left {
  /** How long the balance lasts, less what ends before it can be spent, cut to hundredths; 0 if nothing is left, `null` if nothing is used. */
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

/** `ending`: what is left of grants that have an end, the earliest end first; `balance` has it too. */
export function leftOf(balance: bigint, burn: bigint, now: Date, ending: readonly EndingCredit[] = []): Left {
  if (burn === 0n) return { hours: null, emptyAt: null };
  if (balance <= 0n) return { hours: 0, emptyAt: null };
  const usable = usableOf(balance, burn, now, ending);
  const at = BigInt(now.getTime()) + usable / burn;
  return {
    hours: Number((usable * 100n) / (burn * HOUR_MS)) / 100,
    emptyAt: at <= TIME_MAX_MS ? new Date(Number(at)) : null,
  };
}

/**
 * What usage takes of `balance` before it is spent or has ended, in micros times HOUR_MS, so that usage until an end is exact.
 * Usage spends the grant with the earliest end first; what is left of it then leaves the balance, at most all of it.
 */
function usableOf(balance: bigint, burn: bigint, now: Date, ending: readonly EndingCredit[]): bigint {
  let usable = balance * HOUR_MS;
  let unpaid = 0n;
  let spent = 0n;
  for (const { left, expiresAt } of ending) {
    const until = burn * BigInt(expiresAt.getTime() - now.getTime());
    if (until >= usable) break;
    unpaid += until - spent;
    spent = until;
    const granted = left * HOUR_MS;
    const lost = granted > unpaid ? granted - unpaid : 0n;
    unpaid -= granted - lost;
    usable -= lost;
    if (usable <= spent) return spent;
  }
  return usable;
}

/** To the millionth. */
export function shareOf(amount: bigint, total: bigint): number {
  return total === 0n ? 0 : Number((amount * 1_000_000n) / total) / 1_000_000;
}
