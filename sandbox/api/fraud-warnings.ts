/** `/v1/radar/early_fraud_warnings` */
import { getRow } from '../actions/find.ts';
import { optional, text } from '../http/params.ts';
import { renderFraudWarning } from '../objects/fraud-warning.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, listPage } from './list.ts';

export const fraudWarningRoutes: readonly ApiRoute[] = [
  { method: 'GET', path: '/v1/radar/early_fraud_warnings', handle: list },
  { method: 'GET', path: '/v1/radar/early_fraud_warnings/:id', handle: retrieve },
];

function retrieve({ provider, id }: Call) {
  return renderFraudWarning(getRow(provider, 'fraudWarnings', id));
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/radar/early_fraud_warnings',
    rows: provider.state.all('fraudWarnings'),
    filters: { ...CREATED, charge: optional(text()), payment_intent: optional(text()) },
    keep: (warning, { charge, payment_intent }) =>
      (charge === undefined || warning.charge === charge) &&
      (payment_intent === undefined || warning.paymentIntent === payment_intent),
    render: renderFraudWarning,
  });
}
