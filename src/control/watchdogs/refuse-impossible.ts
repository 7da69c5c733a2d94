/** Refuses watchdog rules whose parts contradict each other. */
import { invalidField } from '../../base/failure.ts';
import { CONDITIONS } from './conditions.ts';
import type { WatchdogRule } from './watchdog.ts';

export function goesWith({ condition, action }: Pick<WatchdogRule, 'condition' | 'action'>): boolean {
  return !CONDITIONS[condition].forbidden.includes(action);
}

export function warnsInTime({
  durationMs,
  warnBeforeMs,
}: Pick<WatchdogRule, 'durationMs' | 'warnBeforeMs'>): boolean {
  return warnBeforeMs < durationMs;
}

/** Fails with `invalid_request`. */
export function refuseImpossible(rule: WatchdogRule): void {
  const { condition } = rule;
  if (!goesWith(rule)) {
    throw invalidField('watchdog.action', `does not go with ${condition}`);
  }
  if (!warnsInTime(rule)) {
    throw invalidField('watchdog.warn_before', `must be shorter than ${condition}`);
  }
}
