/** Entries of the audit trail about automatic top-ups. */
import { changedFields, type NewAuditEntry } from '../../base/audit/audit-entry.ts';
import type { PaymentSettings } from '../payments/payment-settings.ts';

/** `undefined` if nothing changed. Turning them on again may only end what stopped them. */
export function autoTopUpEntry(
  action: 'auto_top_up_changed' | 'auto_top_up_unfrozen',
  before: PaymentSettings,
  after: PaymentSettings,
): NewAuditEntry | undefined {
  const changed = changedFields(fieldsOf(before), fieldsOf(after));
  return changed && { action, subject: null, ...changed };
}

function fieldsOf(settings: PaymentSettings) {
  return {
    enabled: settings.topUpEnabled,
    below_micros: settings.topUpBelow,
    amount_micros: settings.topUpAmount,
    paused_until: pauseOf(settings),
    frozen_by: settings.frozenBy,
    reversed_payments: settings.reversedPayments,
    parked_payments: settings.parkedPayments,
  };
}

/** PostgreSQL's infinity arrives as a number, which JSON does not have. */
function pauseOf({ topUpPausedUntil }: PaymentSettings): Date | string | null {
  return typeof topUpPausedUntil === 'number' ? 'infinity' : topUpPausedUntil;
}
