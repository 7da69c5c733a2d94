/**
 * Opens and closes sessions after participants enter and leave.
 *
 * A listener does it, so an admission costs nothing more.
 */
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import type { LoggedEvent } from '../../events/event.ts';
import type { Listener } from '../../events/listener.ts';
import { PARTICIPANT_EVENTS } from '../rooms/room-events.ts';
import { followSessions, keyOf, type SeenParticipant } from './follow-sessions.ts';
import { countSessions } from './room-usage.sql.ts';
import { changeSessions, closeByTime, findOpenSessions, insertSessions } from './sessions.sql.ts';

export const sessionListener: Listener = {
  name: 'sessions',
  types: Object.keys(PARTICIPANT_EVENTS),
  handle: follow,
};

async function follow(tx: Tx, tenant: TenantId, events: readonly LoggedEvent[]): Promise<void> {
  const names = new Map(
    events.map(({ subject }) => {
      const { room, username: participant } = subject as SeenParticipant;
      return [keyOf(room, participant), { room, participant }];
    }),
  );
  const open = await findOpenSessions(tx, tenant, [...names.values()]);
  const { opened, changed, unknown } = followSessions(
    new Map(open.map((each) => [keyOf(each.room, each.participant), each])),
    events,
  );
  await insertSessions(tx, tenant, opened);
  await changeSessions(tx, tenant, changed);
  for (const left of unknown) await closeByTime(tx, tenant, left);
  await countSessions(tx, tenant, opened);
}
