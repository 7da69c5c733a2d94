/** Close an attempt whose charge was declined, and give the card a rest. */
import type { Tx } from '../../base/db/pool.ts';
import { lockAccount } from '../ledger/ledger.sql.ts';
import { type DeclineReport, readDecline } from './decline.ts';
import { noteFailedTopUp } from './note-failed-top-up.ts';
import { findPaymentSettings } from './payments.sql.ts';
import { type Attempt, countDeclines, finishAttempt, tripBreaker } from './top-up-attempts.sql.ts';
import type { TopUpOutcome } from './top-up-outcome.ts';

/** After so many declines in a row a card is left alone until it pays, is replaced or is turned on again. */
const SUSPEND_AFTER = 4;

/** Card schemes fine a merchant who tries a declined card too often; their limit is 15 in 30 days. */
export const DECLINES_PER_CARD_MAX = 12;

/**
 * Only declines of the card count here; an outage of the provider says nothing about a card.
 * `undefined`: somebody else has closed the attempt.
 */
export async function declineAttempt(
  tx: Tx,
  attempt: Attempt,
  report: DeclineReport,
  paymentId: string | undefined,
): Promise<TopUpOutcome | undefined> {
  await lockAccount(tx, attempt.tenant);
  const decline = readDecline(report);
  const isFirst = await finishAttempt(tx, attempt.id, 'declined', {
    paymentId,
    declineCode: decline.code,
    error: decline.sentence,
  });
  if (!isFirst) return undefined;

  const pausedUntil = attempt.cardFingerprint ? await rest(tx, attempt.cardFingerprint, decline.hard) : null;
  // A card that was saved while this one was being charged has done nothing to be paused for.
  const { cardFingerprint } = await findPaymentSettings(tx, attempt.tenant);
  const isReplaced = cardFingerprint !== attempt.cardFingerprint;
  await noteFailedTopUp(tx, attempt, decline.sentence, isReplaced ? null : pausedUntil, paymentId);
  return { kind: 'auto_top_up', outcome: 'declined' };
}

async function rest(tx: Tx, fingerprint: string, hard: boolean): Promise<Date | 'infinity'> {
  const exhausted = (await countDeclines(tx, fingerprint)) >= DECLINES_PER_CARD_MAX;
  return tripBreaker(tx, fingerprint, { hard: hard || exhausted, suspendAfter: SUSPEND_AFTER });
}
