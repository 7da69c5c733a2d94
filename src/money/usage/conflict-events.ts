/** The event `conflicting_duplicates`. */
import type { NewEvent } from '../../events/event.ts';

export const CONFLICT_EVENTS = {
  conflicting_duplicates: 'Relays report ids of usage records again with other values.',
} as const;

/** At most this many ids are in one event. */
export const CONFLICT_IDS_MAX = 10;

/** The subject of `conflicting_duplicates`: reports of known ids with other values, since the last such event. */
export interface ConflictingDuplicates {
  /** How many reports; an id that came twice counts twice. */
  readonly count: number;
  /** The first of their ids, at most ten, each once. */
  readonly ids: readonly string[];
  /** When the first of them came. */
  readonly firstAt: Date;
}

export function conflictingDuplicates({ count, ids, firstAt }: ConflictingDuplicates): NewEvent {
  const subject: ConflictingDuplicates = { count, ids, firstAt };
  return { type: 'conflicting_duplicates', roomUid: null, subject };
}
