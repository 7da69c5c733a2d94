/** The outcome of a payment or an attempt, for the metrics. */
import type { BaseDeps } from '../../base/deps.ts';
import type { TopUpMetrics } from './top-up-metrics.ts';

export interface TopUpDeps extends BaseDeps {
  readonly metrics: BaseDeps['metrics'] & TopUpMetrics;
}

export interface TopUpOutcome {
  readonly kind: 'top_up' | 'auto_top_up';
  readonly outcome: 'succeeded' | 'declined' | 'canceled';
}

/**
 * Call after the commit, because a transaction may be repeated or rolled back. `undefined` counts nothing.
 */
export function countTopUp(deps: Pick<TopUpDeps, 'metrics'>, topUp: TopUpOutcome | undefined): void {
  if (topUp) deps.metrics.topUps.inc({ ...topUp });
}
