/** Turn the automatic top-up on or off. Source: specification 4.6. */
import type { Tx } from '../../base/db/pool.ts';
import { invalidRequest } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockAccount } from '../ledger/ledger.sql.ts';
import { clearBreaker } from './card-breakers.sql.ts';
import { findPaymentSettings, updateAutoTopUp } from './payments.sql.ts';
import type { AutoTopUp } from './top-up-amount.ts';
import { releaseStuckAttempt } from './top-up-attempts.sql.ts';

export async function setAutoTopUp(tx: Tx, tenant: TenantId, wanted: AutoTopUp): Promise<void> {
  await lockAccount(tx, tenant);
  const settings = await findPaymentSettings(tx, tenant);
  if (wanted.enabled && !settings.paymentMethodId) {
    throw invalidRequest('no saved card: pay a checkout first');
  }
  await updateAutoTopUp(tx, tenant, wanted);
  if (!wanted.enabled) return;
  await releaseStuckAttempt(tx, tenant);
  if (settings.cardFingerprint) await clearBreaker(tx, settings.cardFingerprint);
}
