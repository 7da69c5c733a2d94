/** `/v1/payments` and below. */
import { Type } from '../../base/lib/schema.ts';
import { getReceipt } from '../../money/payments/get-receipt.ts';
import { listPayments, PAYMENTS_PAGE_SIZE } from '../../money/payments/list-payments.ts';
import { isPaymentId } from '../../money/payments/payment.ts';
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { CursorSchema, nextCursor, noSuchPage, parseCursor, renderCursor } from './paging.ts';
import { PaymentSchema, renderPayment } from './schemas.ts';

export function paymentRoutes(app: Http, deps: Deps): void {
  list(app, deps);
  receipt(app, deps);
}

const security = [{ backend_key: [] }];
const tags = ['Billing'];

function list(app: Http, deps: Deps): void {
  app.get(
    '/v1/payments',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'listPayments',
        summary: 'All payments that were credited',
        description: `Newest first, ${PAYMENTS_PAGE_SIZE} at once: checkouts and automatic top-ups.`,
        security,
        querystring: CursorSchema,
        response: answers(
          {
            200: Type.Object(
              { payments: Type.Array(PaymentSchema, { description: 'The payments' }), ...nextCursor },
              { description: 'A page of them' },
            ),
          },
          401,
          403,
        ),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const after = parseCursor(request.query.cursor, isPaymentId);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      const page = await listPayments(deps.db, caller.tenant, after);
      if (!page) throw noSuchPage();
      return { payments: page.items.map(renderPayment), ...renderCursor(page.end?.id) };
    },
  );
}

function receipt(app: Http, deps: Deps): void {
  app.get(
    '/v1/payments/:id/receipt',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags,
        operationId: 'getReceipt',
        summary: "The provider's receipt of a payment",
        description:
          'Links to pages of the payment provider. They expire after at most 30 days: ask again for new ones.',
        security,
        params: Type.Object({ id: Type.String({ description: 'The id of the payment' }) }),
        response: answers(
          {
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
          401,
          403,
          404,
          502,
        ),
      },
      config: { callsProvider: true },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      const { url, invoiceUrl } = await getReceipt(deps, caller.tenant, request.params.id);
      return { url, ...(invoiceUrl === undefined ? {} : { invoice_url: invoiceUrl }) };
    },
  );
}
