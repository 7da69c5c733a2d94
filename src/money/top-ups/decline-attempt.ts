/** Close an attempt whose charge was declined, and back off the card. */
import type { Tx } from '../../base/db/pool.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { findPaymentSettings } from '../payments/payments.sql.ts';
import type { Attempt } from './attempt.ts';
import { backOffCard } from './card-breaker.ts';
import { type DeclineReport, readDecline } from './decline.ts';
import { noteFailedTopUp } from './note-failed-top-up.ts';
import { finishAttempt } from './top-up-attempts.sql.ts';
import type { TopUpOutcome } from './top-up-outcome.ts';

/**
 * Only declines of the card count, not outages of the provider.
 * `undefined`: the attempt was closed already.
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

  const pausedUntil = attempt.cardFingerprint
    ? await backOffCard(tx, attempt.cardFingerprint, decline)
    : null;
  // Do not pause for a card that was saved while this one was being charged.
  const { cardFingerprint } = await findPaymentSettings(tx, attempt.tenant);
  const isReplaced = cardFingerprint !== attempt.cardFingerprint;
  await noteFailedTopUp(tx, attempt, decline.sentence, isReplaced ? null : pausedUntil, paymentId);
  return { kind: 'auto_top_up', outcome: 'declined' };
}
