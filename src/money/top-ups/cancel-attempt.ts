/** Close an attempt that charged nothing, for a reason other than the card. */
import type { Tx } from '../../base/db/pool.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import type { Attempt } from './attempt.ts';
import { noteFailedTopUp } from './note-failed-top-up.ts';
import { finishAttempt } from './top-up-attempts.sql.ts';
import type { TopUpOutcome } from './top-up-outcome.ts';

export const PAYMENT_CANCELED = 'The payment was canceled [canceled].';

const PAUSE_MS = 3_600_000;

/**
 * Automatic top-ups pause for an hour, so that a persistent error does not cause a retry storm.
 * `undefined`: the attempt was closed already.
 */
export async function cancelAttempt(
  tx: Tx,
  attempt: Attempt,
  sentence: string,
): Promise<TopUpOutcome | undefined> {
  await lockAccount(tx, attempt.tenant);
  const canceled = await closeAsCanceled(tx, attempt, sentence);
  if (canceled) await noteFailedTopUp(tx, attempt, sentence, new Date(Date.now() + PAUSE_MS));
  return canceled;
}

/** Closes without a pause. The account must be locked. */
export async function closeAsCanceled(
  tx: Tx,
  attempt: Attempt,
  error: string,
): Promise<TopUpOutcome | undefined> {
  const isFirst = await finishAttempt(tx, attempt.id, 'canceled', { error });
  return isFirst ? { kind: 'auto_top_up', outcome: 'canceled' } : undefined;
}
