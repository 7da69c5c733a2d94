/** The event of a card that expires. */
import type { NewEvent } from '../../events/event.ts';

export const CARD_EVENTS = { card_expiring: 'The saved card expires soon.' } as const;

/** The subject of `card_expiring`. */
export interface CardExpiry {
  readonly brand: string;
  readonly last4: string;
  /** The last month in which the card pays: `2026-12`. */
  readonly expires: string;
}

export function cardExpiring(subject: CardExpiry): NewEvent {
  return { type: 'card_expiring', roomUid: null, subject };
}
