/** What tests of grants share: usage without relays, and time that passes. */
import type { Pool } from '../../../src/base/db/pool.ts';
import { inTransaction } from '../../../src/base/db/transaction.ts';
import type { TenantId } from '../../../src/base/tenants/tenant.ts';
import { lockAccount } from '../../../src/money/accounts/accounts.sql.ts';
import { appendPosting } from '../../../src/money/ledger/ledger.sql.ts';
import { CURRENT_RULE } from '../../../src/money/pricing/pricing-rule.ts';
import { RateCards } from '../../../src/money/pricing/rate-cards.ts';
import { moved, withoutTriggers } from '../../support/append-only.ts';

/** A charge of so many micros, without its record. */
export async function spend(db: Pool, tenant: TenantId, micros: bigint): Promise<void> {
  await inTransaction(db, async (tx) => {
    const account = await lockAccount(tx, tenant);
    const rates = await new RateCards().version(tx, account.rateVersion);
    const terms = { rates, rule: CURRENT_RULE, rounding: 'carry' as const };
    const batch = { terms, carry: account.carry, records: 1, newestIds: ['id'], sums: [] };
    await appendPosting(tx, account, { kind: 'usage', amount: -micros, batch });
  });
}

/** Move everything of the tenant's ledger so many days into the past. */
export async function pass(db: Pool, tenant: TenantId, days: number): Promise<void> {
  const back = (column: string) => `${column} = ${moved(column, `${-days} days`)}`;
  await withoutTriggers(db, ['postings'], async (tx) => {
    await tx.query(`update postings set ${back('at')} where tenant_id = $1`, [tenant]);
    const times = ['granted_at', 'expires_at', 'due_at', 'ended_at'].map(back).join(', ');
    await tx.query(`update grants set ${times} where tenant_id = $1`, [tenant]);
  });
}

/** Let the grants of a tenant end now. Only they move in time. */
export async function endNow(db: Pool, tenant: TenantId): Promise<void> {
  await db.query(
    `update grants set granted_at = t.now - interval '1 hour', expires_at = t.now, due_at = t.now
       from (select date_trunc('milliseconds', now()) as now) t where tenant_id = $1 and ended_at is null`,
    [tenant],
  );
}
