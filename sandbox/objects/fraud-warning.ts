/** Early fraud warnings: the card network suspects fraud, before any dispute. */
export interface FraudWarning {
  readonly id: string;
  readonly created: number;
  readonly charge: string;
  readonly paymentIntent: string;
  readonly fraudType: string;
}

export function renderFraudWarning(warning: FraudWarning) {
  return {
    id: warning.id,
    object: 'radar.early_fraud_warning',
    actionable: true,
    charge: warning.charge,
    created: warning.created,
    fraud_type: warning.fraudType,
    livemode: false,
    payment_intent: warning.paymentIntent,
  };
}
