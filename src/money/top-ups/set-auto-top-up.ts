/** Turn the automatic top-up on or off. Source: specification 4.6. */
import type { Actor } from '../../base/audit/actor.ts';
import { appendAudit } from '../../base/audit/append-audit.sql.ts';
import type { Tx } from '../../base/db/pool.ts';
import { invalidRequest } from '../../base/failure.ts';
import type { TenantId } from '../../base/tenants/tenant.ts';
import { lockAccount } from '../accounts/accounts.sql.ts';
import { refuseForeignCard } from '../accounts/top-up-consent.ts';
import { findPaymentSettings, updateAutoTopUp } from '../payments/payments.sql.ts';
import { autoTopUpEntry } from './auto-top-up-audit.ts';
import { clearBreaker } from './card-breakers.sql.ts';
import type { AutoTopUp } from './top-up-amount.ts';
import { releaseStuckAttempt } from './top-up-attempts.sql.ts';

/** Who makes the settings. */
export interface TopUpSetter {
  readonly actor: Actor;
  /** The API key that is used, unless it is trusted. */
  readonly untrustedKey: string | null;
}

/** Fails with `invalid_request` without a saved card, and with `permission_denied` for that of a member. */
export async function setAutoTopUp(
  tx: Tx,
  { actor, untrustedKey }: TopUpSetter,
  tenant: TenantId,
  wanted: AutoTopUp,
): Promise<void> {
  await lockAccount(tx, tenant);
  const settings = await findPaymentSettings(tx, tenant);
  if (wanted.enabled && !settings.paymentMethodId) {
    throw invalidRequest('no saved card: pay a checkout first');
  }
  if (wanted.enabled) refuseForeignCard(settings.cardMember, untrustedKey);
  await updateAutoTopUp(tx, tenant, wanted, untrustedKey);
  const entry = autoTopUpEntry('auto_top_up_changed', settings, await findPaymentSettings(tx, tenant));
  if (entry) await appendAudit(tx, tenant, actor, entry);
  if (!wanted.enabled) return;
  await releaseStuckAttempt(tx, tenant);
  if (settings.cardFingerprint) await clearBreaker(tx, settings.cardFingerprint);
}
