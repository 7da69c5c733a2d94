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
  readonly lastTopUpError: string | null;
}
