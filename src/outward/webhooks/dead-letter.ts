/** Dead letters: events that were given up, and were neither delivered nor put aside again since. */
import type { Delivery } from './delivery.ts';

/** So many of one webhook are counted at most, because each read of the webhook counts them. */
export const DEAD_LETTERS_COUNTED_MAX = 1_000;

export interface DeadLetter
  extends Pick<Delivery, 'eventId' | 'type' | 'attempt' | 'status' | 'error' | 'answer' | 'at'> {
  readonly seq: bigint;
  /** The name of its room; `null`: it has none, or is not kept. */
  readonly room: string | null;
  /** When it happened; `null`: it is not kept any more, so it cannot be sent again. */
  readonly happenedAt: Date | null;
}

/** `refused`: the last answer had another status than 2xx; `unanswered`: there was none. */
export const DEATHS = ['refused', 'unanswered'] as const;
export type Death = (typeof DEATHS)[number];

/** Why it was given up: what its last attempt came to, while the webhook accepted other events. */
export function deathOf({ status }: Pick<DeadLetter, 'status'>): Death {
  return status === null ? 'unanswered' : 'refused';
}
