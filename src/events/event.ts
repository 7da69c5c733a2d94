/**
 * Events: what happened to a tenant, numbered without a gap.
 *
 * The log stores the type and the subject of an event as data and knows no feature. The subject is a
 * snapshot taken right after the event.
 */

/** An event as an operation appends it. */
export interface NewEvent {
  /** Lower case, with underscores: `room_created`. */
  readonly type: string;
  /** The room of the event; `null` if it concerns the whole tenant. */
  readonly roomUid: string | null;
  /** Stored as JSON: amounts are decimal strings of micros, times are ISO 8601. */
  readonly subject: object;
  /** Whether relays must now refuse something that they accepted before, or the reverse. */
  readonly revokes?: boolean;
}

/** An event as the log holds it. */
export interface LoggedEvent {
  readonly seq: bigint;
  readonly at: Date;
  readonly type: string;
  readonly roomUid: string | null;
  readonly subject: unknown;
}

/** A place in the tenant's log: everything up to the event `seq` has been handled. */
export interface Place {
  readonly seq: bigint;
  /**
   * When that event happened; `null` if it is no longer kept. In a restored database, another event may
   * have its number.
   */
  readonly at: Date | null;
}

/** How long events are kept, and attempts to deliver them: usually, which is also the least, and at most. */
export const EVENT_DAYS = 7;
export const EVENT_DAYS_MAX = 90;
