/** Delete a watchdog that has not fired. Fired watchdogs are kept as history. */
import type { Tx } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { auditPerson, type Moderator } from '../rooms/moderator.ts';
import type { ActorName } from '../rooms/participant.ts';
import { getLockedWatchdog } from './get-watchdog.ts';
import { auditedRule } from './watchdog.ts';
import { watchdogEvent } from './watchdog-events.ts';
import { removeWatchdog } from './watchdogs.sql.ts';

/** Fails with `not_found`, `capability_required` and `watchdog_over`. */
export async function deleteWatchdog(
  tx: Tx,
  caller: Pick<Moderator, 'tenant' | 'actor' | 'within'>,
  reference: { id: string; actor: ActorName | undefined },
): Promise<void> {
  const { tenant } = caller;
  const watchdog = await getLockedWatchdog(tx, caller, reference);
  if (watchdog.state === 'fired') throw new Failure('watchdog_over');
  await removeWatchdog(tx, tenant, reference.id);
  const before = auditedRule(watchdog);
  await auditPerson(tx, caller, { action: 'watchdog_deleted', subject: watchdog.id, before, after: null });
  if (watchdog.state === 'warned') {
    const subject = { ...watchdog, state: 'disarmed', deadline: null } as const;
    await appendEvents(tx, tenant, [watchdogEvent('watchdog_rearmed', subject)]);
  }
}
