/**
 * Book the refunds and disputes of a payment in the ledger.
 *
 * They may come in any order, and repeatedly. So the reversed credit is recomputed from all of them, between
 * zero and the credited amount, and the ledger gets the difference. What is taken back also pauses automatic top-ups:
 * otherwise the refund of a top-up could lead to the next one.
 */
import type { Tx } from '../../base/db/pool.ts';
import { appendEvents } from '../../events/append-events.sql.ts';
import type { Account } from '../accounts/accounts.sql.ts';
import { appendPosting } from '../ledger/ledger.sql.ts';
import type { Payment } from '../payments/payment.ts';
import { updateReversed } from '../payments/payments.sql.ts';
import { endReversalPause, pauseForReversal } from '../payments/top-up-stops.sql.ts';
import { reversedCredit } from './reversal.ts';
import { paymentReversed } from './reversal-events.ts';
import { sumTakenBack } from './reversals.sql.ts';

/** The account must be locked. Returns the account as it is afterwards. */
export async function applyReversals(
  tx: Tx,
  account: Account,
  payment: Payment,
  cause: { kind: 'refund' | 'dispute'; id: string },
): Promise<Account> {
  const reversed = reversedCredit(payment, await sumTakenBack(tx, payment.id));
  if (reversed === payment.reversed) return account;

  const amount = payment.reversed - reversed;
  const { kind, id: reference } = cause;
  await updateReversed(tx, payment.id, reversed);
  if (amount < 0n) await pauseForReversal(tx, payment.tenant, payment.id);
  else if (reversed === 0n) await endReversalPause(tx, payment.tenant, payment.id);
  await appendEvents(tx, payment.tenant, [
    paymentReversed({ paymentId: payment.id, kind, reference, amount }),
  ]);
  return appendPosting(tx, account, { kind, amount, reference, paymentId: payment.id });
}
