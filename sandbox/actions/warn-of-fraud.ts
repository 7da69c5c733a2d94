/** The card network suspects that a charge is fraudulent. */
import type { Charge } from '../objects/charge.ts';
import { type FraudWarning, renderFraudWarning } from '../objects/fraud-warning.ts';
import { emit, now, type Provider } from '../provider.ts';

export function warnOfFraud(provider: Provider, charge: Charge): FraudWarning {
  const warning = provider.state.put('fraudWarnings', {
    id: provider.ids.next('issfr_'),
    created: now(provider),
    charge: charge.id,
    paymentIntent: charge.paymentIntent,
    fraudType: 'made_with_stolen_card',
  });
  emit(provider, 'radar.early_fraud_warning.created', renderFraudWarning(warning));
  return warning;
}
