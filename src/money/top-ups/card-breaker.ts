/**
 * The breaker of declined cards, which holds charges back.
 *
 * Successive declines back off the card for 1, 2 and 4 hours, then suspend it. A card that must not be
 * tried again is suspended at once. The back-off ends when the card pays or when the tenant turns the
 * automatic top-up on again (`clearBreaker()`); a new card starts without one. A card that was declined
 * too often within 30 days is not charged, even after its back-off ended.
 */
import type { Tx } from '../../base/db/pool.ts';
import { findBlockedUntil, tripBreaker } from './card-breakers.sql.ts';
import type { Decline } from './decline.ts';
import { countDeclines } from './top-up-attempts.sql.ts';

/** This many declines in a row suspend the card. */
const SUSPEND_AFTER = 4;

/** Card networks fine merchants for retrying a declined card too often; their limit is 15 in 30 days. */
const DECLINES_PER_CARD_MAX = 12;
const DECLINES_DAYS = 30;

/** Why the card may not be charged now, and until when. */
export interface CardHold {
  readonly error: string;
  readonly until: Date | 'infinity';
}

/** Record a decline. Returns the end of the back-off. */
export async function backOffCard(
  tx: Tx,
  fingerprint: string,
  { hard }: Pick<Decline, 'hard'>,
): Promise<Date | 'infinity'> {
  const suspended = hard || (await isExhausted(tx, fingerprint));
  return tripBreaker(tx, fingerprint, { hard: suspended, suspendAfter: SUSPEND_AFTER });
}

/** `undefined`: the card may be charged. */
export async function findCardHold(tx: Tx, fingerprint: string): Promise<CardHold | undefined> {
  const blocked = await findBlockedUntil(tx, fingerprint);
  const exhausted = await isExhausted(tx, fingerprint);
  if (!blocked && !exhausted) return undefined;
  const error = 'The saved card was declined too often: pay a checkout with another card [card_suspended].';
  return { error, until: exhausted || !blocked ? 'infinity' : blocked };
}

async function isExhausted(tx: Tx, fingerprint: string): Promise<boolean> {
  return (await countDeclines(tx, fingerprint, DECLINES_DAYS)) >= DECLINES_PER_CARD_MAX;
}
