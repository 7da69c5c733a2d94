/**
 * Holds: what the tokens of a device can cost at most until they expire.
 *
 * A hold is time at a rate, the ceiling of the token's role. Usage that is charged takes its seconds away, but none that have yet
 * to come. What has expired without usage leaves after GRACE_SECONDS.
 */
import type { RateCard } from '../../money/pricing/rate-card.ts';
import type { Role, Tier } from '../../money/pricing/role.ts';
import { CLOCK_SLACK_SECONDS } from '../../money/records/usage-record.ts';

/** How long after the use of a token relays may report it before the budget stops waiting for it. */
export const GRACE_SECONDS = 900;

/** A user who has so many in a room gets no second one for a device: each charge of the user looks at them all. */
export const HOLDS_OF_USER_MAX = 1_000;

/** A rate is for a thousand participant-minutes. */
export const RATE_SECONDS = 60_000n;

/** A charge may be so much more than its exact price. No time of a hold leaves for it. */
const ROUNDING_MICROS = 1n;

export interface Hold {
  /** Micros for a thousand participant-minutes. */
  readonly rate: bigint;
  /** Time for which no usage has been charged yet. */
  readonly seconds: number;
  /** When the last token expires, in seconds since 1970. */
  readonly until: number;
}

/** With it, a token may cost what the highest tier costs; without, what sound costs. */
export const DEAR_CAPABILITY = 'subscribe.video';

/** The rate of a token: the ceiling of its role at the highest tier that its capabilities allow. */
export function rateOf(rates: RateCard, role: Role, capabilities: readonly string[]): bigint {
  const tier: Tier = capabilities.includes(DEAR_CAPABILITY) ? '2k_plus' : 'audio';
  return rates.ceilingPer1000Minutes[role][tier];
}

/** Whole micros, rounded up. */
export function amountOf({ rate, seconds }: Pick<Hold, 'rate' | 'seconds'>): bigint {
  return (rate * BigInt(seconds) + RATE_SECONDS - 1n) / RATE_SECONDS;
}

export interface NewToken {
  readonly rate: bigint;
  /** Its start and its end, in seconds since 1970. */
  readonly now: number;
  readonly until: number;
  /** All charges before this time were taken from holds. In seconds since 1970. */
  readonly spentUntil: number;
}

/**
 * The hold after a token: it adds the time that no earlier token covers. A lower rate begins when nothing is left of a higher one.
 */
export function extendHold(before: Hold | undefined, { rate, now, until, spentUntil }: NewToken): Hold {
  if (!before) return { rate, seconds: until - now, until };
  const left = Math.min(before.seconds, Math.max(0, Math.ceil(before.until + GRACE_SECONDS - spentUntil)));
  const added = Math.max(0, until - Math.max(before.until, now));
  const isOver = left === 0 && before.until <= now;
  return {
    rate: isOver || rate > before.rate ? rate : before.rate,
    seconds: left + added,
    until: Math.max(before.until, until),
  };
}

/** Whether some time of the hold may be older than the grace time. If not, `spentUntil` does not matter. */
export function mayLapse({ seconds, until }: Hold, now: number): boolean {
  return seconds > until + GRACE_SECONDS - now;
}

/** Usage as holds pay for it. */
export interface UsedTime {
  readonly seconds: number;
  readonly micros: bigint;
  /** When it was charged. */
  readonly at: Date;
}

/** What a hold pays of a charge. `released` micros leave it, which are at least as many. */
export interface PaidByHold {
  readonly micros: bigint;
  readonly released: bigint;
}

const NOTHING: PaidByHold = { micros: 0n, released: 0n };

/**
 * Pay a charge from the holds of its participant, which are in the order of their rates. They lose the time that was used, and as much
 * more as the charge was dearer. None of them loses time that had yet to come when the usage was charged: a relay may report more
 * seconds than have passed, and the token goes on. A hold that loses nothing is returned as it is: a user may have thousands. `rest`: what no
 * hold covers.
 */
export function payFromHolds<Each extends Hold>(
  holds: readonly Each[],
  charge: UsedTime,
): { readonly after: Each[]; readonly paid: PaidByHold[]; readonly rest: bigint } {
  const timed = takeTime(holds, charge);
  const worth = holds.reduce((sum, hold, at) => {
    const { seconds } = timed[at]!;
    return seconds === hold.seconds ? sum : sum + hold.rate * BigInt(hold.seconds - seconds);
  }, 0n);
  let owed = charge.micros - ROUNDING_MICROS - worth / RATE_SECONDS;
  const after = timed.map((hold) => {
    if (owed <= 0n) return hold;
    const toCome = secondsToCome(hold, charge.at);
    if (hold.seconds === toCome) return hold;
    const left = secondsWorth(hold, amountOf(hold) - owed);
    const less = { ...hold, seconds: Math.max(left, toCome) };
    owed -= amountOf(hold) - amountOf(less);
    return less;
  });
  let rest = charge.micros;
  const paid = holds.map((hold, at) => {
    if (after[at] === hold) return NOTHING;
    const released = amountOf(hold) - amountOf(after[at]!);
    const micros = rest < released ? rest : released;
    rest -= micros;
    return { micros, released };
  });
  return { after, paid, rest };
}

/**
 * Take the time of a charge. Its device is not known, so the cheapest holds lose as much of it as they may: all but what must have
 * been dearer, for the charge to cost what it does. More time of a dear hold would leave it too small for its device.
 */
function takeTime<Each extends Hold>(holds: readonly Each[], { seconds, micros, at }: UsedTime): Each[] {
  const passed = holds.map((hold) => hold.seconds - secondsToCome(hold, at));
  const dearest = holds.findLast((_, place) => passed[place]! > 0)?.rate ?? 0n;
  let secondsLeft = seconds;
  let spare = dearest * BigInt(seconds) - (micros - ROUNDING_MICROS) * RATE_SECONDS;
  return holds.map((hold, place) => {
    if (secondsLeft === 0 || passed[place] === 0) return hold;
    const saved = dearest - hold.rate;
    const most = saved > 0n ? Number((spare > 0n ? spare : 0n) / saved) : secondsLeft;
    const taken = Math.min(passed[place]!, secondsLeft, most);
    secondsLeft -= taken;
    if (taken === 0) return hold;
    spare -= saved * BigInt(taken);
    return { ...hold, seconds: hold.seconds - taken };
  });
}

/** How much of a hold cannot have been used by then. */
function secondsToCome({ seconds, until }: Hold, at: Date): number {
  const toCome = Math.ceil(until - at.getTime() / 1000 - CLOCK_SLACK_SECONDS);
  return Math.min(seconds, Math.max(0, toCome));
}

/** The longest time of a hold that costs no more than `most` micros. */
function secondsWorth({ rate, seconds }: Hold, most: bigint): number {
  if (most <= 0n) return rate === 0n && most === 0n ? seconds : 0;
  const worth = rate === 0n ? BigInt(seconds) : (most * RATE_SECONDS) / rate;
  return worth < BigInt(seconds) ? Number(worth) : seconds;
}
