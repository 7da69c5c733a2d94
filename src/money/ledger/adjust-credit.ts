/** An operator gives credit to a tenant or takes it back. Source: specification 2.3, kind `adjustment`. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { Failure, invalidRequest } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { findTenant } from '../../base/tenants/tenants.sql.ts';
import { appendPosting, findAdjustedAmount, lockAccount } from './ledger.sql.ts';

export interface Adjustment {
  /** Micros, signed. */
  readonly amount: bigint;
  /** Shown to the tenant as the detail of the entry. */
  readonly reason: string;
  /** Makes the adjustment idempotent: a tenant gets one adjustment per id. */
  readonly id: string | undefined;
}

/** `balance` is the new balance in micros; `posted` is false if this adjustment was made before. */
export interface Adjusted {
  readonly balance: bigint;
  readonly posted: boolean;
}

/** Fails with `not_found`, or with `invalid_request` if the id was used for another amount. */
export async function adjustCredit(
  db: Pool,
  actor: Actor,
  tenant: TenantId,
  adjustment: Adjustment,
): Promise<Adjusted> {
  const { amount, reason, id } = adjustment;
  return inTransaction(db, async (tx) => {
    if (!(await findTenant(tx, tenant))) throw new Failure('not_found');
    const account = await lockAccount(tx, tenant);
    const earlier = id === undefined ? undefined : await findAdjustedAmount(tx, tenant, id);
    if (earlier !== undefined) {
      if (earlier !== amount) throw invalidRequest('this id was used for an adjustment of another amount');
      return { balance: account.balance, posted: false };
    }
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
    return { balance, posted: true };
  });
}
