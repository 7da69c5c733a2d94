/** Refuses watchdog rules whose parts contradict each other. */
import { invalidField } from '../../base/failure.ts';
import { CONDITIONS } from './conditions.ts';
import type { WatchdogRule } from './watchdog.ts';

/** Fails with `invalid_request`. */
export function refuseImpossible({ condition, durationMs, action, warnBeforeMs }: WatchdogRule): void {
  if (CONDITIONS[condition].forbidden.includes(action)) {
    throw invalidField('watchdog.action', `does not go with ${condition}`);
  }
  if (warnBeforeMs >= durationMs) {
    throw invalidField('watchdog.warn_before', `must be shorter than ${condition}`);
  }
}
