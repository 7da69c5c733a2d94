/** Append the event of a moderator's act, and record it permanently. */
import type { Tx } from '../../base/db/pool.ts';
import { appendNumberedEvents } from '../../events/append-events.sql.ts';
import type { NewEvent } from '../../events/event.ts';
import { auditPerson, type Moderator } from '../rooms/moderator.ts';
import type { ModerationEvent } from './moderation-event.ts';
import { insertModerationEvent, transactionTime } from './moderation-events.sql.ts';

export interface ModeratorAct extends Pick<ModerationEvent, 'action' | 'subject' | 'reason' | 'actor'> {
  /** `null`: the whole tenant. */
  readonly room: { readonly name: string; readonly uid: string } | null;
  readonly tracks?: ModerationEvent['tracks'];
  /** When a ban ends. */
  readonly expiresAt?: Date | null;
}

/**
 * Append the event of `act`, and those of its outcome. Relays must learn of every moderator's act.
 *
 * This locks the tenant's events: call it last in the transaction.
 */
export async function recordModeration(
  tx: Tx,
  moderator: Moderator,
  { room, tracks = [], expiresAt = null, ...act }: ModeratorAct,
  outcome: readonly NewEvent[] = [],
): Promise<ModerationEvent> {
  const { tenant, keyId, actor } = moderator;
  const record = {
    ...act,
    room: room?.name ?? null,
    roomUid: room?.uid ?? null,
    tracks,
    keyId,
    memberId: actor.kind === 'member' ? actor.id : null,
    watchdogId: null,
    at: await transactionTime(tx),
    expiresAt,
  };
  const id = await appendNumberedEvents(tx, tenant, [moderated(record), ...outcome]);
  const event = { id, ...record };
  await insertModerationEvent(tx, tenant, event);
  await auditPerson(tx, moderator, {
    action: 'moderated',
    subject: String(id),
    before: null,
    after: { action: event.action, room_uid: event.roomUid },
  });
  return event;
}

/** The event of a moderator's act. Its number becomes the id of the record. */
export function moderated(event: Omit<ModerationEvent, 'id'>): NewEvent {
  return { type: 'moderation', roomUid: event.roomUid, subject: event, revokes: true };
}
