/**
 * Events: what happened to a tenant, numbered without a gap.
 *
 * The log stores the type and the subject of an event as data and knows no feature. An event keeps its
 * subject as it was just after it happened.
 */

/** What an operation appends. */
export interface NewEvent {
  /** Lower case, with underscores: `room_created`. */
  readonly type: string;
  /** The room that the event is about; `null`: the whole tenant. */
  readonly roomUid: string | null;
  /** Stored as JSON: amounts are decimal strings of micros, times are ISO 8601. */
  readonly subject: object;
  /** Whether relays have to refuse something from now on that they accepted before, or the reverse. */
  readonly revokes?: boolean;
}

/** What the log holds. */
export interface LoggedEvent {
  readonly seq: bigint;
  readonly at: Date;
  readonly type: string;
  readonly roomUid: string | null;
  readonly subject: unknown;
}

/** A place among the events of a tenant: everything up to the event `seq` has been dealt with. */
export interface Place {
  readonly seq: bigint;
  /**
   * When that event happened; `null` where it is not kept any more. In a database that was restored,
   * another event may have its number.
   */
  readonly at: Date | null;
}

/** How long events can be read. */
export const EVENT_DAYS = 7;
