/** `/v1/payments` and below. */
import { renderPageToken } from '../../base/lib/page-token.ts';
import { Type } from '../../base/lib/schema.ts';
import { getReceipt } from '../../money/payments/get-receipt.ts';
import { listPayments } from '../../money/payments/list-payments.ts';
import { isPaymentId } from '../../money/payments/payment.ts';
import { PAYMENT_COLUMNS, paymentStream } from '../http/payment-list.ts';
import { listAnswer, listFields, sendList } from './lists.ts';
import { nextCursor, noSuchPage, parseCursor } from './paging.ts';
import { parsePeriod, periodFields } from './query.ts';
import { plain } from './route.ts';
import { PaymentSchema, renderPayment } from './schemas.ts';

const list = plain(
  {
    path: 'GET /v1/payments',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'its own',
    tag: 'Billing',
    operation: 'listPayments',
    summary: 'All payments that were credited',
    description: 'Newest first: checkouts and automatic top-ups. The period is that of the credit.',
    query: Type.Object({ ...periodFields, ...listFields }),
    answer: {
      200: listAnswer(
        Type.Object({
          payments: Type.Array(PaymentSchema, { description: 'The payments' }),
          ...nextCursor,
        }),
        Object.keys(PAYMENT_COLUMNS),
      ),
    },
    parse: ({ query }) => parsePeriod(query),
  },
  async ({ deps, caller, query, input, request, reply }) =>
    sendList(deps, reply, {
      caller,
      query,
      accept: request.headers.accept,
      parsePlace: (cursor) => parseCursor(cursor, isPaymentId),
      openStream: async () => paymentStream(deps.db, caller.tenant, input),
      readPage: async (after, size) => {
        const place = after ?? undefined;
        const page = await listPayments(deps.db, caller.tenant, { ...input, after: place, size });
        if (!page) throw noSuchPage();
        return { items: page.items, nextCursor: page.end && renderPageToken([page.end.id]) };
      },
      renderPage: (payments) => ({ payments: payments.map(renderPayment) }),
      columns: PAYMENT_COLUMNS,
      fileName: 'payments',
    }),
);

const receipt = plain(
  {
    path: 'GET /v1/payments/:id/receipt',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'provider calls',
    tag: 'Billing',
    operation: 'getReceipt',
    summary: "The provider's receipt of a payment",
    description:
      'Links to pages of the payment provider. They expire after at most 30 days: ask again for new ones.',
    params: Type.Object({ id: Type.String({ description: 'The id of the payment' }) }),
    answer: {
      200: Type.Object(
        {
          url: Type.String({ description: 'The receipt, to open in a browser' }),
          invoice_url: Type.Optional(
            Type.String({ description: 'The invoice, to open in a browser. Absent: there is none' }),
          ),
        },
        { description: 'The links' },
      ),
    },
    errors: [404, 502],
  },
  async ({ deps, caller, params }) => {
    const { url, invoiceUrl } = await getReceipt(deps, caller.tenant, params.id);
    return { url, ...(invoiceUrl === undefined ? {} : { invoice_url: invoiceUrl }) };
  },
);

export const paymentRoutes = [list, receipt];
