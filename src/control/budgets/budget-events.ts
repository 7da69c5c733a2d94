/** The events of budgets. Amounts are decimal strings of micros. */
import type { NewEvent } from '../../events/event.ts';
import type { Budget } from './budget.ts';

export const BUDGET_EVENTS = {
  budget_alert: 'A share of a budget is spent.',
} as const;

/** The subject of `budget_alert`. */
export interface BudgetAlert {
  readonly budget: string;
  /** The share that is spent, in percent. */
  readonly percent: number;
  /** In this period. */
  readonly spent: string;
  readonly limit: string;
  /** When the period began. */
  readonly periodStartedAt: Date;
}

export function budgetAlert({ id, spent, max, periodStart }: Budget, share: number): NewEvent {
  const subject: BudgetAlert = {
    budget: id,
    percent: share,
    spent: `${spent}`,
    limit: `${max}`,
    periodStartedAt: periodStart,
  };
  return { type: 'budget_alert', roomUid: null, subject };
}
