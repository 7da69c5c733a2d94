/**
 * Granted credit: given by an operator, with a reason, often for a time. Amounts are in micros.
 *
 * Usage spends it before paid credit, the grant with the earliest end first. What is left at the end, or when an operator
 * voids the grant, leaves the balance. Refunds, disputes and adjustments move paid credit only.
 */
import { isId } from '../../base/lib/ids.ts';
import { MICROS_PER_DOLLAR } from '../amount.ts';

/** Grants that a tenant has at once, neither spent nor ended: each read goes through all of them. */
export const GRANTS_OPEN_MAX = 100;

/** A grant begins no later than it ends, also while another transaction keeps the account locked. */
export const LIFETIME_SECONDS_MIN = 60;

/** Days before its end at which a tenant is told. A grant for a shorter time is told at once. */
export const WARNED_DAYS = 7;

/** The longest name that an operator gives a grant, in characters. */
export const GRANT_KEY_MAX = 200;

/** What is one grant at most: a billion dollars, as any amount that an operator types. */
export const GRANT_MAX = 1_000_000_000n * MICROS_PER_DOLLAR;

export type GrantEnd = 'spent' | 'expired' | 'voided';
export type GrantState = 'active' | GrantEnd;
export const GRANT_STATES = ['active', 'spent', 'expired', 'voided'] as const satisfies readonly GrantState[];

export interface Grant {
  readonly id: string;
  /** Its posting. */
  readonly seq: bigint;
  readonly amount: bigint;
  /** Shown to the tenant. */
  readonly reason: string;
  readonly grantedAt: Date;
  /** `null`: it has no end. */
  readonly expiresAt: Date | null;
  readonly endedAt: Date | null;
  readonly endedBy: GrantEnd | null;
  /** The newest posting that it may have paid; `null`: not ended. */
  readonly lastSeq: bigint | null;
  /** The posting that took what was left. */
  readonly endSeq: bigint | null;
  /** What that posting took. */
  readonly forfeited: bigint;
}

/** A grant as it is at some time. */
export interface GrantNow extends Grant {
  readonly left: bigint;
  readonly state: GrantState;
}

/** What paid for usage. */
export function spentOf({ amount, left, forfeited }: GrantNow): bigint {
  return amount - left - forfeited;
}

export function isGrantId(text: string): boolean {
  return isId('gr', text);
}
