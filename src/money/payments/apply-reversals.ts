/**
 * Move the ledger by what refunds and disputes have changed of a payment's net.
 *
 * Whatever order they come in, and however often: the net that the provider left us is computed
 * anew, between nothing and what was credited, and the ledger follows by the difference.
 */
import type { Tx } from '../../base/db/pool.ts';
import { type Account, appendPosting } from '../ledger/ledger.sql.ts';
import { type Payment, updateReversed } from './payments.sql.ts';
import { sumTakenBack } from './reversals.sql.ts';

/** The account must be locked. Returns the account as it is afterwards. */
export async function applyReversals(
  tx: Tx,
  account: Account,
  payment: Payment,
  cause: { kind: 'refund' | 'dispute'; id: string },
): Promise<Account> {
  const takenBack = await sumTakenBack(tx, payment.id);
  const reversed = takenBack > payment.credited ? payment.credited : takenBack;
  if (reversed === payment.reversed) return account;

  await updateReversed(tx, payment.id, reversed);
  return appendPosting(tx, account, {
    kind: cause.kind,
    amount: payment.reversed - reversed,
    reference: cause.id,
    paymentId: payment.id,
  });
}
