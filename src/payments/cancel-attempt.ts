/** Close an attempt that charged nothing, for a reason that says nothing about the card. */
import type { Tx } from '../db/pool.ts';
import type { Deps } from '../deps.ts';
import { lockAccount } from '../ledger/ledger.sql.ts';
import { noteTopUpError } from './payments.sql.ts';
import { type Attempt, finishAttempt } from './top-up-attempts.sql.ts';

export const PAYMENT_CANCELED = 'The payment was canceled [canceled].';

const PAUSE_MS = 3_600_000;

/** An hour passes before another attempt, so that a standing fault makes no storm. */
export async function cancelAttempt(deps: Deps, tx: Tx, attempt: Attempt, sentence: string): Promise<void> {
  await lockAccount(tx, attempt.tenant);
  const isFirst = await finishAttempt(tx, attempt.id, 'canceled', { error: sentence });
  if (!isFirst) return;
  await noteTopUpError(tx, attempt.tenant, sentence, new Date(Date.now() + PAUSE_MS));
  deps.metrics.topUps.inc({ kind: 'auto_top_up', outcome: 'canceled' });
}
