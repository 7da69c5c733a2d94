/** `/v1/charges` */
import { getRow } from '../actions/find.ts';
import { optional, text } from '../http/params.ts';
import { renderCharge } from '../objects/charge.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, listPage } from './list.ts';

export const chargeRoutes: readonly ApiRoute[] = [
  { method: 'GET', path: '/v1/charges', handle: list },
  { method: 'GET', path: '/v1/charges/:id', handle: retrieve },
];

function retrieve({ provider, id }: Call) {
  return renderCharge(getRow(provider, 'charges', id), provider.publicUrl);
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/charges',
    rows: provider.state.all('charges'),
    filters: { ...CREATED, customer: optional(text()), payment_intent: optional(text()) },
    keep: (charge, { customer, payment_intent }) =>
      (customer === undefined || charge.customer === customer) &&
      (payment_intent === undefined || charge.paymentIntent === payment_intent),
    render: (charge) => renderCharge(charge, provider.publicUrl),
  });
}
