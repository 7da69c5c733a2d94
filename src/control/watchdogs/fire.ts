/**
 * What a watchdog does when it fires, in the transaction that marks it as fired.
 *
 * The room is locked. Everything it does appends events; what a moderator could also do is recorded as a
 * moderator's act.
 */

import { PUBLISH_RIGHTS } from '../../access/rights/publish-rights.ts';
import type { Tx } from '../../base/db/pool.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { appendNumberedEvents } from '../../events/append-events.sql.ts';
import type { NewEvent } from '../../events/event.ts';
import type { ModerationAction, ModerationEvent } from '../moderation/moderation-event.ts';
import { insertModerationEvents } from '../moderation/moderation-events.sql.ts';
import { moderated } from '../moderation/record-moderation.ts';
import { endRoom } from '../rooms/end-room.ts';
import type { Participant } from '../rooms/participant.ts';
import { expel, revokeAllPublishing } from '../rooms/participants.sql.ts';
import { participantExpelled, participantRestricted } from '../rooms/room-events.ts';
import type { Watchdog } from './watchdog.ts';
import { watchdogEvent } from './watchdog-events.ts';

interface Effect {
  /** Events other than those of moderation. */
  readonly events: readonly NewEvent[];
  readonly moderation: readonly Omit<ModerationEvent, 'id'>[];
}

/** `usernames`: the users it fires for; `null`: all in the room. */
export async function fire(
  tx: Tx,
  tenant: TenantId,
  watchdog: Watchdog,
  usernames: readonly string[] | null,
): Promise<void> {
  const { events, moderation } = await act(tx, tenant, watchdog, usernames);
  const first = await appendNumberedEvents(tx, tenant, [
    ...moderation.map(moderated),
    ...events,
    watchdogEvent('watchdog_fired', watchdog),
  ]);
  await insertModerationEvents(tx, tenant, first, moderation);
}

async function act(
  tx: Tx,
  tenant: TenantId,
  watchdog: Watchdog,
  usernames: readonly string[] | null,
): Promise<Effect> {
  const { action, roomUid } = watchdog;
  switch (action) {
    case 'notify':
      return { events: [], moderation: [] };
    case 'end_room': {
      await endRoom(tx, tenant, { uid: roomUid }, 'watchdog');
      return { events: [], moderation: [moderationBy(watchdog, 'close_room')] };
    }
    case 'kick': {
      const left = await expel(tx, tenant, roomUid, 'watchdog', usernames ?? undefined);
      // Users whose last token expired before a sweep marked them were not kicked.
      const kicked = left.filter(({ leaveReason }) => leaveReason === 'watchdog');
      return {
        events: left.map(participantExpelled),
        moderation: kicked.map((each) => moderationBy(watchdog, 'kick', each)),
      };
    }
    case 'revoke_publish': {
      const restricted = await revokeAllPublishing(tx, tenant, roomUid, usernames);
      return {
        events: restricted.map(participantRestricted),
        moderation: restricted.map((each) => ({
          ...moderationBy(watchdog, 'revoke_publish', each),
          tracks: PUBLISH_RIGHTS,
        })),
      };
    }
  }
}

function moderationBy(
  watchdog: Watchdog,
  action: ModerationAction,
  participant?: Participant,
): Omit<ModerationEvent, 'id'> {
  return {
    action,
    room: watchdog.room,
    roomUid: watchdog.roomUid,
    subject: participant ? { kind: 'user', value: participant.username } : null,
    tracks: [],
    reason: '',
    actor: null,
    keyId: null,
    memberId: null,
    watchdogId: watchdog.id,
    at: watchdog.firedAt!,
    expiresAt: null,
  };
}
