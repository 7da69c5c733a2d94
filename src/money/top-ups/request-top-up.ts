/** Request an automatic top-up, in the transaction that made it due. Source: specification 4.6 and 4.12. */
import type { Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { Account } from '../accounts/accounts.sql.ts';
import { insertAttempt } from './top-up-attempts.sql.ts';

/**
 * Insert an attempt to charge the saved card if the balance is below the threshold. Returns whether one
 * was inserted.
 *
 * A worker calls the provider later. A unique index ensures that a tenant never has two open attempts.
 */
export async function requestTopUpIfBelow(tx: Tx, account: Account): Promise<boolean> {
  if (account.topUpBelow === null || account.balance >= account.topUpBelow) return false;
  return insertAttempt(tx, newId('tu'), account.tenant);
}
