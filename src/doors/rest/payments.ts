/** `/v1/payments` and below. */
import { Type } from '../../base/lib/schema.ts';
import { getReceipt } from '../../money/payments/get-receipt.ts';
import { listPayments, PAYMENTS_PAGE_MAX, PAYMENTS_PAGE_USUAL } from '../../money/payments/list-payments.ts';
import { isPaymentId } from '../../money/payments/payment.ts';
import { CursorSchema, nextCursor, noSuchPage, parseCursor, renderCursor } from './paging.ts';
import { limitField, parseLimit, parsePeriod, periodFields } from './query.ts';
import { plain } from './route.ts';
import { PaymentSchema, renderPayment } from './schemas.ts';

const list = plain(
  {
    path: 'GET /v1/payments',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'listPayments',
    summary: 'All payments that were credited',
    description: 'Newest first: checkouts and automatic top-ups. The period is that of the credit.',
    query: Type.Object({
      ...periodFields,
      limit: limitField(PAYMENTS_PAGE_MAX, PAYMENTS_PAGE_USUAL),
      ...CursorSchema.properties,
    }),
    answer: {
      200: Type.Object(
        { payments: Type.Array(PaymentSchema, { description: 'The payments' }), ...nextCursor },
        { description: 'A page of them' },
      ),
    },
    parse: ({ query }) => ({
      ...parsePeriod(query),
      size: parseLimit(query.limit, PAYMENTS_PAGE_MAX, PAYMENTS_PAGE_USUAL),
      after: parseCursor(query.cursor, isPaymentId),
    }),
  },
  async ({ deps, caller, input }) => {
    const page = await listPayments(deps.db, caller.tenant, input);
    if (!page) throw noSuchPage();
    return { payments: page.items.map(renderPayment), ...renderCursor(page.end?.id) };
  },
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
