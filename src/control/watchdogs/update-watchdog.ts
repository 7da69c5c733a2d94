/** Change a waiting watchdog, and arm it again. */
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { ActorName } from '../rooms/participant.ts';
import { getLockedWatchdog } from './get-watchdog.ts';
import { refuseImpossible } from './refuse-impossible.ts';
import type { Watchdog, WatchdogRule } from './watchdog.ts';
import { watchdogEvent } from './watchdog-events.ts';
import { rearmWatchdog } from './watchdogs.sql.ts';

export interface WatchdogChange extends Partial<Pick<WatchdogRule, 'action' | 'warnBeforeMs'>> {
  /** Must be the condition that the watchdog has. */
  readonly condition?: Pick<WatchdogRule, 'condition' | 'durationMs'>;
}

/**
 * Fails with `not_found`, `capability_required`, `immutable_field` for another condition than its own,
 * `invalid_request` if the result would be impossible, and `watchdog_over`.
 */
export async function updateWatchdog(
  tx: Tx,
  tenant: TenantId,
  { id, change, actor }: { id: string; change: WatchdogChange; actor: ActorName | undefined },
): Promise<Watchdog> {
  const watchdog = await getLockedWatchdog(tx, { tenant }, { id, actor });
  const { condition, ...others } = change;
  if (condition && condition.condition !== watchdog.condition) {
    throw new Failure('immutable_field', {
      message: `invalid request: the condition ${watchdog.condition} cannot be changed into another one`,
      field: `watchdog.${condition.condition}`,
    });
  }
  const rule = { ...watchdog, ...others, ...condition };
  refuseImpossible(rule);
  if (watchdog.state === 'fired' || watchdog.state === 'disarmed') throw new Failure('watchdog_over');
  const rearmed = await rearmWatchdog(tx, tenant, id, rule);
  if (watchdog.state === 'warned') {
    await appendEvents(tx, tenant, [watchdogEvent('watchdog_rearmed', rearmed)]);
  }
  return rearmed;
}
