/**
 * Budgets: what a tenant wants to spend at most.
 *
 * A hard budget is never exceeded: each token takes a hold of what it can cost at most, and is refused where that does not fit.
 * A soft one only tells.
 */
import { matchesRoom } from '../../access/rights/room-names.ts';
import { invalidField } from '../../base/failure.ts';
import { isOneLine } from '../../base/lib/one-line.ts';
import type { TenantLimit } from '../../base/tenants/limits.ts';
import { type Period, startOfPeriod } from './period.ts';

export const BUDGETS_LIMIT = {
  name: 'budgets',
  pending: 10,
  active: 100,
  unit: 'budgets',
} as const satisfies TenantLimit;

/** The client chooses the id of a budget. */
export const BUDGET_ID_PATTERN = '^[a-z0-9][a-z0-9_-]{0,63}$';
/** Characters of a customer's label. */
export const CUSTOMER_LENGTH_MAX = 128;
/** Above this, micros would not be a safe integer for clients. */
export const BUDGET_MICROS_MAX = Number.MAX_SAFE_INTEGER;
export const SHARES_MAX = 10;
/** In percent. */
export const SHARE_MAX = 100;
/** Alerts of one budget on one day (UTC): all of its shares three times. */
export const ALERTS_OF_BUDGET_MAX = 3 * SHARES_MAX;
/** Alerts of all budgets of a tenant on one day (UTC), deleted ones included: all shares of 100 budgets. */
export const ALERTS_OF_TENANT_MAX = 100 * SHARES_MAX;
/** Budgets that a token names, which has at most 4 KiB. */
export const TOKEN_BUDGETS_MAX = 20;

/** A customer's label, as it was given: spaces around it are part of it. Empty: `null`. Fails with `invalid_request`. */
export function parseCustomer(text: string): string | null {
  if (text === '') return null;
  if ((text.length > CUSTOMER_LENGTH_MAX && [...text].length > CUSTOMER_LENGTH_MAX) || !isOneLine(text)) {
    throw invalidField(
      'customer',
      `must be one line of up to ${CUSTOMER_LENGTH_MAX} characters, without marks of direction`,
    );
  }
  return text;
}

/** What usage a budget is of: that which has all that is not null. */
export interface BudgetScope {
  /** Id of the API key or device credential that the token was asked for with. */
  readonly keyId: string | null;
  /** Name or pattern. */
  readonly room: string | null;
  /** As given with the mint. */
  readonly customer: string | null;
}

/** What a tenant asks for. Amounts are in micros. */
export interface WantedBudget extends BudgetScope {
  readonly id: string;
  readonly period: Period;
  readonly max: bigint;
  readonly hard: boolean;
  /** Percentages of `max` at which an event tells, ascending. */
  readonly shares: readonly number[];
}

/** What changes with each token and charge. */
export interface BudgetState {
  /** In the period that began at `periodStart`. */
  readonly spent: bigint;
  /** What tokens that run may still cost. */
  readonly held: bigint;
  readonly periodStart: Date;
  /** The highest of `shares` that this period was told of; 0: none. */
  readonly told: number;
}

export interface Budget extends WantedBudget, BudgetState {
  readonly uid: string;
  readonly createdAt: Date;
}

/** Where usage belongs. `null`: not known, which no budget of it matches. */
export interface UsagePlace {
  readonly keyId: string | null;
  readonly room: string;
  readonly customer: string | null;
}

export function coversUsage(budget: BudgetScope, { keyId, room, customer }: UsagePlace): boolean {
  return (
    (budget.keyId === null || budget.keyId === keyId) &&
    (budget.room === null || matchesRoom(budget.room, room)) &&
    (budget.customer === null || budget.customer === customer)
  );
}

/** The budget at this time: a new period begins with nothing spent. Holds go on. */
export function atTime<Each extends Pick<Budget, 'period'> & BudgetState>(budget: Each, time: Date): Each {
  const periodStart = startOfPeriod(budget.period, time);
  return periodStart > budget.periodStart ? { ...budget, spent: 0n, told: 0, periodStart } : budget;
}

/** What further tokens may cost. */
export function freeOf({ max, spent, held }: Pick<Budget, 'max' | 'spent' | 'held'>): bigint {
  const free = max - spent - held;
  return free > 0n ? free : 0n;
}

/** What was charged in this period although the budget was spent. */
export function beyondOf({ max, spent }: Pick<Budget, 'max' | 'spent'>): bigint {
  return spent > max ? spent - max : 0n;
}

/** The shares that are spent and were not told of. Ascending. */
export function sharesToTell({
  shares,
  max,
  spent,
  told,
}: Pick<Budget, 'shares' | 'max' | 'spent' | 'told'>) {
  return shares.filter((share) => share > told && spent > 0n && spent * 100n >= max * BigInt(share));
}
