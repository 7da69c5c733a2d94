/** The events of thresholds. Amounts are decimal strings of micros. */
import type { NewEvent } from '../../events/event.ts';
import { leftOf } from '../runway/runway.ts';
import type { SetThreshold } from './alert-threshold.ts';

export const BALANCE_EVENTS = {
  balance_low: 'The balance fell below a threshold.',
  balance_recovered: 'The balance is at a threshold or above it again.',
} as const;

export const RUNWAY_EVENTS = {
  runway_low: 'At the present rate, the balance will last for less time than a threshold.',
  runway_recovered: 'At the present rate, the balance will last for longer than a threshold again.',
} as const;

/** The subject of `balance_low` and `balance_recovered`. */
export interface BalanceAlert {
  /** After the change that crossed the threshold. */
  readonly balance: string;
  /** The threshold. */
  readonly below: string;
}

/** The subject of `runway_low` and `runway_recovered`. */
export interface RunwayAlert {
  readonly balance: string;
  /** The threshold. */
  readonly belowHours: number;
  /** What usage takes in an hour. */
  readonly burnPerHour: string;
  /** How long the balance lasts; 0 if nothing is left, `null` if nothing is used. */
  readonly runwayHours: number | null;
  /** `null` if nothing is left, if nothing is used, and after the year 9999. */
  readonly emptyAt: Date | null;
}

/** The event of a threshold that this balance crosses. */
export function thresholdCrossed(
  { kind, below, burn, raisedAt }: SetThreshold,
  { balance, now }: { balance: bigint; now: Date },
): NewEvent {
  const turn = raisedAt === null ? 'low' : 'recovered';
  if (kind === 'balance') {
    const subject: BalanceAlert = { balance: `${balance}`, below: `${below}` };
    return { type: `balance_${turn}`, roomUid: null, subject };
  }
  const { hours, emptyAt } = leftOf(balance, burn ?? 0n, now);
  const subject: RunwayAlert = {
    balance: `${balance}`,
    belowHours: Number(below),
    burnPerHour: `${burn ?? 0n}`,
    runwayHours: hours,
    emptyAt,
  };
  return { type: `runway_${turn}`, roomUid: null, subject };
}
