/** Ask for an automatic top-up, inside the transaction that made it due. Source: specification 4.6 and 4.12. */
import type { Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { Account } from '../ledger/ledger.sql.ts';
import { insertAttempt } from './top-up-attempts.sql.ts';

/**
 * Leave a row that says the saved card is to be charged, after a charge that left so little. Returns
 * whether one was left.
 *
 * No provider is called here: a worker does that, and a unique index sees to it that a tenant never
 * has two open attempts.
 */
export async function requestTopUpIfBelow(tx: Tx, account: Account): Promise<boolean> {
  if (account.topUpBelow === null || account.balance >= account.topUpBelow) return false;
  return insertAttempt(tx, newId('tu'), account.tenant);
}
