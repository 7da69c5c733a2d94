/** `/v1/invoices` */
import { getRow } from '../actions/find.ts';
import { oneOf, optional, text } from '../http/params.ts';
import { renderInvoice } from '../objects/invoice.ts';
import type { ApiRoute, Call } from './call.ts';
import { CREATED, listPage } from './list.ts';

export const invoiceRoutes: readonly ApiRoute[] = [
  { method: 'GET', path: '/v1/invoices', handle: list },
  { method: 'GET', path: '/v1/invoices/:id', handle: retrieve },
];

function retrieve({ provider, id }: Call) {
  return renderInvoice(getRow(provider, 'invoices', id), provider.publicUrl);
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/invoices',
    rows: provider.state.all('invoices'),
    filters: {
      ...CREATED,
      customer: optional(text()),
      status: optional(oneOf('draft', 'open', 'paid', 'uncollectible', 'void')),
    },
    keep: ({ session }, { customer, status }) =>
      (customer === undefined || session.customer === customer) && (status ?? 'paid') === 'paid',
    render: (invoice) => renderInvoice(invoice, provider.publicUrl),
  });
}
