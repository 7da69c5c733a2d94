/** Tell what a moderator did, and keep it for ever. */

import type { AuthenticatedCaller } from '../../access/keys/authenticate.ts';
import type { Tx } from '../../base/db/pool.ts';
import { appendEvents, type NewEvent } from '../../events/events.sql.ts';
import type { Participant } from '../rooms/participant.ts';
import type { ModerationEvent } from './moderation-event.ts';
import { insertModerationEvent, transactionTime } from './moderation-events.sql.ts';

export interface Deed extends Pick<ModerationEvent, 'action' | 'subject' | 'reason' | 'actor'> {
  /** `null`: the whole tenant. */
  readonly room: { readonly name: string; readonly uid: string } | null;
  readonly tracks?: ModerationEvent['tracks'];
  /** When a ban ends. */
  readonly expiresAt?: Date | null;
}

/**
 * Append the event of `deed`, and those of what it came to. Every deed of a moderator is something
 * that relays must know of.
 *
 * This locks the tenant's events: do it last.
 */
export async function recordModeration(
  tx: Tx,
  { tenant, keyId }: AuthenticatedCaller,
  { room, tracks = [], expiresAt = null, ...deed }: Deed,
  outcome: readonly NewEvent[] = [],
): Promise<ModerationEvent> {
  const told = {
    ...deed,
    room: room?.name ?? null,
    roomUid: room?.uid ?? null,
    tracks,
    keyId,
    watchdogId: null,
    at: await transactionTime(tx),
    expiresAt,
  };
  const id = await appendEvents(tx, tenant, [
    { roomUid: told.roomUid, what: { type: 'moderation', subject: told }, revokes: true },
    ...outcome,
  ]);
  const event = { id, ...told };
  await insertModerationEvent(tx, tenant, event);
  return event;
}

export function leaving(participants: readonly Participant[]): NewEvent[] {
  return participants.map((subject) => ({
    roomUid: subject.roomUid,
    what: { type: 'participant_left', subject },
    revokes: true,
  }));
}
