/** Report a failed automatic top-up to the tenant: in `last_top_up_error`, and by an event. */
import type { Tx } from '../../base/db/pool.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import { noteTopUpError } from '../payments/payments.sql.ts';
import type { Attempt } from './attempt.ts';
import { topUpFailed } from './top-up-events.ts';

/** No automatic top-up runs before `pausedUntil`; `null`: no pause. The account must be locked. */
export async function noteFailedTopUp(
  tx: Tx,
  { tenant, amount }: Pick<Attempt, 'tenant' | 'amount'>,
  error: string,
  pausedUntil: Date | 'infinity' | null,
  paymentId?: string,
): Promise<void> {
  await noteTopUpError(tx, tenant, error, pausedUntil);
  await appendEvents(tx, tenant, [topUpFailed({ automatic: true, amount, paymentId, error })]);
}
