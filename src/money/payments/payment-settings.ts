/** The tenant's customer and card at the provider, and its automatic top-up. Amounts are in micros. */
export interface PaymentSettings {
  readonly customerId: string | null;
  readonly paymentMethodId: string | null;
  readonly cardFingerprint: string | null;
  readonly firstPaidAt: Date | null;
  readonly topUpEnabled: boolean;
  readonly topUpBelow: bigint;
  readonly topUpAmount: bigint;
  readonly topUpPausedUntil: Date | number | null;
  readonly frozenBy: readonly string[];
  /** Ids of payments that were made and are not credited. While there are any, no automatic top-up runs. */
  readonly parkedPayments: readonly string[];
  readonly lastTopUpError: string | null;
}

const PARKED =
  'Automatic top-ups are stopped: an earlier payment has to be credited by the operator first [payment_parked].';

/** `last_top_up_error`: what stops automatic top-ups now, or else why the last one failed. */
export function describeTopUpError(
  settings: Pick<PaymentSettings, 'topUpEnabled' | 'parkedPayments' | 'lastTopUpError'>,
): string | null {
  if (settings.topUpEnabled && settings.parkedPayments.length > 0) return PARKED;
  return settings.lastTopUpError;
}
