/** Notifications of the payment provider that wait for an operator. */
import type { Db } from '../../base/db/pool.ts';
import { Failure } from '../../base/failure.ts';
import type { OpenEvent } from './open-event.ts';
import { findOpenEvent, listOpenEvents } from './parked-events.sql.ts';

/** Parked ones, and those that fail and are tried again, the newest first. */
export function listParked(db: Db, limit: number): Promise<OpenEvent[]> {
  return listOpenEvents(db, limit);
}

/** By the id of the notification, or of its payment. Fails with `not_found`. */
export async function getParked(db: Db, id: string): Promise<OpenEvent> {
  const event = await findOpenEvent(db, id);
  if (!event) throw new Failure('not_found', { message: `no parked notification or payment ${id}` });
  return event;
}
