/** The event of a month whose statement is ready. */
import type { NewEvent } from '../../events/event.ts';
import type { Month } from '../month.ts';

export const STATEMENT_EVENTS = { statement_ready: 'The statement of a month is ready.' } as const;

/** The subject of `statement_ready`. */
export interface ReadyStatement {
  readonly month: Month;
  /** Micros, as decimal strings: the balances at the start and at the end of the month. */
  readonly opening: string;
  readonly closing: string;
}

export function statementReady(subject: ReadyStatement): NewEvent {
  return { type: 'statement_ready', roomUid: null, subject };
}
