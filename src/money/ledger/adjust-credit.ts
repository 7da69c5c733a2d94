/** An operator gives credit to a tenant or takes it back. Source: specification 2.3, kind `adjustment`. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Db, Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { invalidRequest } from '../../base/failure.ts';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findBalance, lockAccount } from '../accounts/accounts.sql.ts';
import { displayMicros } from '../amount.ts';
import { type Adjustment, mustConfirm, refuseOtherAmount } from './adjustment.ts';
import { appendPosting, findAdjustedAmount } from './ledger.sql.ts';

/** `before` and `balance` are in micros; `posted` is false, and both are the balance, if this adjustment was made before. */
export interface Adjusted {
  readonly before: bigint;
  readonly balance: bigint;
  readonly posted: boolean;
}

/**
 * Fails with `not_found`, or with `invalid_request` if the id was used for another amount or something is not confirmed. The
 * balance that counts is that under the lock: charges go on while the operator reads.
 */
export async function adjustCredit(
  db: Pool,
  actor: Actor,
  tenant: TenantId,
  adjustment: Adjustment,
): Promise<Adjusted> {
  const { amount, reason, id } = adjustment;
  return inTransaction(db, async (tx) => {
    await getTenant(tx, tenant);
    const account = await lockAccount(tx, tenant);
    const earlier = id === undefined ? undefined : await findAdjustedAmount(tx, tenant, id);
    if (earlier !== undefined) {
      if (earlier !== amount) throw invalidRequest('this id was used for an adjustment of another amount');
      return { before: account.balance, balance: account.balance, posted: false };
    }
    refuseUnconfirmed(adjustment, account.balance);
    const { balance } = await appendPosting(tx, account, {
      kind: 'adjustment',
      amount,
      detail: reason,
      ...(id !== undefined && { reference: id }),
    });
    await appendAudit(tx, tenant, actor, {
      action: 'credit_adjusted',
      subject: id ?? null,
      before: { balance_micros: account.balance },
      after: { balance_micros: balance, amount_micros: amount, reason },
    });
    return { before: account.balance, balance, posted: true };
  });
}

/** Micros: what an adjustment would change now. */
export function getBalance(db: Db, tenant: TenantId): Promise<bigint> {
  return findBalance(db, tenant);
}

/** The command line shows these messages. The console asks at its fields instead. */
function refuseUnconfirmed({ amount, confirmed }: Adjustment, balance: bigint): void {
  if (!confirmed) return;
  const must = mustConfirm(amount, balance);
  if (must.amount) refuseOtherAmount(amount, confirmed.amount);
  if (must.negative && !confirmed.negative) {
    throw invalidRequest(
      `the balance would go from ${displayMicros(balance)} to ${displayMicros(balance + amount)}: allow a negative balance (--allow-negative)`,
    );
  }
}
