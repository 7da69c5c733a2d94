/** What came of a payment, or of an attempt at one, for the metrics. */
import type { BaseDeps } from '../../base/deps.ts';

export interface TopUpOutcome {
  readonly kind: 'top_up' | 'auto_top_up';
  readonly outcome: 'succeeded' | 'declined' | 'canceled';
}

/** Counted once it is committed: a transaction may be repeated, or undone. `undefined`: nothing came of it. */
export function countTopUp(deps: Pick<BaseDeps, 'metrics'>, topUp: TopUpOutcome | undefined): void {
  if (topUp) deps.metrics.topUps.inc({ ...topUp });
}
