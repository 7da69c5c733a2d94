/** `/v1/disputes` */
import { loseDispute } from '../actions/dispute-charge.ts';
import { getRow } from '../actions/find.ts';
import { optional, readParams, text } from '../http/params.ts';
import { renderDispute } from '../objects/dispute.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, listPage } from './list.ts';

export const disputeRoutes: readonly ApiRoute[] = [
  { method: 'GET', path: '/v1/disputes', handle: list },
  { method: 'GET', path: '/v1/disputes/:id', handle: retrieve },
  { method: 'POST', path: '/v1/disputes/:id/close', handle: close },
];

function retrieve({ provider, id }: Call) {
  return renderDispute(getRow(provider, 'disputes', id));
}

/** Closing a dispute accepts it. */
function close({ provider, id, form }: Call) {
  readParams(form, {});
  return renderDispute(loseDispute(provider, getRow(provider, 'disputes', id)));
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/disputes',
    rows: provider.state.all('disputes'),
    filters: { ...CREATED, charge: optional(text()), payment_intent: optional(text()) },
    keep: (dispute, { charge, payment_intent }) =>
      (charge === undefined || dispute.charge === charge) &&
      (payment_intent === undefined || dispute.paymentIntent === payment_intent),
    render: renderDispute,
  });
}
