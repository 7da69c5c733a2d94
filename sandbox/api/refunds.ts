/** `/v1/refunds` */
import { getCharge, getRow } from '../actions/find.ts';
import { refundCharge } from '../actions/refund-charge.ts';
import { invalidRequest } from '../http/errors.ts';
import { emptyable, integer, metadata, oneOf, optional, readParams, text } from '../http/params.ts';
import { REFUND_REASONS, renderRefund } from '../objects/refund.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, listPage } from './list.ts';
import { mergeMetadata } from './metadata.ts';

export const refundRoutes: readonly ApiRoute[] = [
  { method: 'POST', path: '/v1/refunds', handle: create },
  { method: 'GET', path: '/v1/refunds', handle: list },
  { method: 'GET', path: '/v1/refunds/:id', handle: retrieve },
];

function create({ provider, form }: Call) {
  const params = readParams(form, {
    charge: optional(text()),
    payment_intent: optional(text()),
    amount: optional(integer({ min: 1 })),
    reason: optional(oneOf(...REFUND_REASONS)),
    metadata: optional(emptyable(metadata())),
  });
  const payment = params.payment_intent ?? params.charge;
  if (payment === undefined) {
    throw invalidRequest(
      'One of the following params should be provided for this request: payment_intent or charge.',
    );
  }
  const charge = getCharge(
    provider,
    payment,
    params.payment_intent === undefined ? 'charge' : 'payment_intent',
  );
  const refund = refundCharge(provider, charge, {
    amount: params.amount,
    reason: params.reason,
    metadata: mergeMetadata({}, params.metadata),
  });
  return renderRefund(refund);
}

function retrieve({ provider, id }: Call) {
  return renderRefund(getRow(provider, 'refunds', id));
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/refunds',
    rows: provider.state.all('refunds'),
    filters: { ...CREATED, charge: optional(text()), payment_intent: optional(text()) },
    keep: (refund, { charge, payment_intent }) =>
      (charge === undefined || refund.charge === charge) &&
      (payment_intent === undefined || refund.paymentIntent === payment_intent),
    render: renderRefund,
  });
}
