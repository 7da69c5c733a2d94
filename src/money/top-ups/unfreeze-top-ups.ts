/** Let automatic top-ups run again after any stop. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Pool } from '../../base/db/pool.ts';
import { inTransaction } from '../../base/db/transaction.ts';
import { getTenant } from '../../base/tenants/get-tenant.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { findPaymentSettings, updateAutoTopUp } from '../payments/payments.sql.ts';
import { endHold, unfreeze } from '../payments/top-up-stops.sql.ts';
import { autoTopUpEntry } from './auto-top-up-audit.ts';
import { clearBreaker } from './card-breakers.sql.ts';
import { releaseStuckAttempt } from './top-up-attempts.sql.ts';

/** Returns the disputes and fraud warnings that had stopped them. Fails with `not_found`. */
export async function unfreezeTopUps(db: Pool, actor: Actor, tenant: TenantId): Promise<readonly string[]> {
  return inTransaction(db, async (tx) => {
    await getTenant(tx, tenant);
    await lockAccount(tx, tenant);
    const settings = await findPaymentSettings(tx, tenant);
    await unfreeze(tx, tenant, 'all');
    await endHold(tx, tenant, 'all');
    // Turning them on again resets the pause and the declines of the card. If they are off, they stay off.
    if (settings.topUpEnabled)
      await updateAutoTopUp(tx, tenant, { enabled: true, below: null, amount: null }, settings.topUpKey);
    await releaseStuckAttempt(tx, tenant);
    if (settings.cardFingerprint) await clearBreaker(tx, settings.cardFingerprint);
    const entry = autoTopUpEntry('auto_top_up_unfrozen', settings, await findPaymentSettings(tx, tenant));
    if (entry) await appendAudit(tx, tenant, actor, entry);
    return settings.frozenBy;
  });
}
