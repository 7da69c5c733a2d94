/** A change of credit by an operator, and what the operator must confirm before it is posted. */
import { invalidRequest } from '../../base/failure.ts';
import { displayMicros, MICROS_PER_DOLLAR } from '../amount.ts';

/** An amount beyond this, in micros and either way, must be typed twice. */
export const TYPED_ONCE_MAX = 1_000n * MICROS_PER_DOLLAR;

export interface Adjustment {
  /** Micros, signed. */
  readonly amount: bigint;
  /** Shown to the tenant as the detail of the entry. */
  readonly reason: string;
  /** Makes the adjustment idempotent: a tenant gets one adjustment per id. */
  readonly id: string | undefined;
  /** What the operator confirmed. Absent: no person asks, so nothing needs to be. */
  readonly confirmed?: Confirmed;
}

export interface Confirmed {
  /** The amount as it was typed the second time. */
  readonly amount: bigint | undefined;
  readonly negative: boolean;
}

/** Whether the amount must be typed twice, and whether the operator must accept a negative balance. */
export function mustConfirm(amount: bigint, balance: bigint): { amount: boolean; negative: boolean } {
  const size = amount < 0n ? -amount : amount;
  return { amount: size > TYPED_ONCE_MAX, negative: amount < 0n && balance + amount < 0n };
}

/** The command line shows this message. The console asks at its field instead. */
export function refuseOtherAmount(amount: bigint, confirmed: bigint | undefined): void {
  if (confirmed === amount) return;
  throw invalidRequest(
    `${displayMicros(amount)} is beyond ${displayMicros(TYPED_ONCE_MAX)}: confirm it by the same amount (--confirm)`,
  );
}
