/** Request an automatic top-up, in the transaction that made it due. Source: specification 4.6 and 4.12. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { newId } from '../../base/lib/ids.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { type Account, lockAccount } from '../accounts/accounts.sql.ts';
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

/** The same for a tenant that does not wait for its next charge, such as after it raised the threshold above its balance. */
export async function requestTopUpNow(tx: Tx, actor: Actor, tenant: TenantId): Promise<boolean> {
  if (!(await requestTopUpIfBelow(tx, await lockAccount(tx, tenant)))) return false;
  const entry = { action: 'auto_top_up_requested', subject: null, before: null, after: null };
  await appendAudit(tx, tenant, actor, entry);
  return true;
}
