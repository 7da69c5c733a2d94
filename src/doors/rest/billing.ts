/** `/v1/billing` and below. Source: specification 4.3 to 4.6. */
import { Type } from '../../base/lib/schema.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { microsOfCents, renderAmount } from '../../money/amount.ts';
import { RECENT_ENTRIES_MAX } from '../../money/ledger/posting.ts';
import { getBilledTenant, getBilling } from '../../money/payments/get-billing.ts';
import { openCheckout } from '../../money/payments/open-checkout.ts';
import { openPortal } from '../../money/payments/open-portal.ts';
import { setAutoTopUp } from '../../money/payments/set-auto-top-up.ts';
import {
  CENTS_SAFE_MAX,
  parseAutoTopUp,
  THRESHOLD_CENTS_MIN,
  TOP_UP_CENTS_MAX,
  TOP_UP_CENTS_MIN,
} from '../../money/payments/top-up-amount.ts';
import type { Deps } from '../deps.ts';
import { answers, described } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { callerOf, refuseStatus, requireKey } from './auth.ts';
import { IdempotencySchema, mutationOf, write } from './idempotency.ts';
import {
  AmountSchema,
  body,
  LedgerEntrySchema,
  renderLedgerEntry,
  renderTenant,
  TenantSchema,
} from './schemas.ts';

export function billingRoutes(app: Http, deps: Deps): void {
  showBilling(app, deps);
  checkout(app, deps);
  portal(app, deps);
  autoTopUp(app, deps);
}

const security = [{ backend_key: [] }];

/** An answer that is one address. */
function link<const Name extends string>(name: Name, what: string) {
  const url = Type.String({ description: `${what}, to open in a browser` });
  return Type.Object({ [name]: url } as Record<Name, typeof url>, { description: 'It is open' });
}

function showBilling(app: Http, deps: Deps): void {
  app.get(
    '/v1/billing',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags: ['Billing'],
        operationId: 'getBilling',
        summary: 'The tenant, its balance and its newest ledger entries',
        description: 'Entries are newest first. The balance is the sum of all entries of the ledger.',
        security,
        response: answers(
          {
            200: Type.Object(
              {
                tenant: TenantSchema,
                balance: described(AmountSchema, 'Prepaid credit that is left; may be negative'),
                admitted: Type.Boolean({ description: 'New sessions and tokens are admitted' }),
                recent: Type.Array(LedgerEntrySchema, {
                  maxItems: RECENT_ENTRIES_MAX,
                  description: 'The newest entries of the ledger, newest first',
                }),
              },
              { description: 'The account' },
            ),
          },
          401,
          403,
        ),
      },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      const { tenant, settings, balance, admitted, recent } = await getBilling(deps.db, caller.tenant);
      return {
        tenant: renderTenant(tenant, settings),
        balance: renderAmount(balance),
        admitted,
        recent: recent.map(renderLedgerEntry),
      };
    },
  );
}

function checkout(app: Http, deps: Deps): void {
  app.post(
    '/v1/billing/checkout',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags: ['Billing'],
        operationId: 'openCheckout',
        summary: 'Open a page on which credit is paid for',
        description: 'The credit is added once the payment has succeeded. The page saves the card.',
        security,
        headers: IdempotencySchema,
        body: body({
          amount_cents: Type.Integer({
            minimum: TOP_UP_CENTS_MIN,
            maximum: TOP_UP_CENTS_MAX,
            description: 'What to pay, in whole cents',
          }),
        }),
        response: answers({ 200: link('checkout_url', 'The page') }, 401, 403, 408, 422, 502),
      },
      config: { callsProvider: true },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'archived', 'deleted');
      const amount = microsOfCents(request.body.amount_cents);
      return {
        checkout_url: await openCheckout(deps, limitHolderOf(caller), amount, mutationOf(request)),
      };
    },
  );
}

function portal(app: Http, deps: Deps): void {
  app.post(
    '/v1/billing/portal',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags: ['Billing'],
        operationId: 'openPortal',
        summary: 'Open the portal for receipts and saved cards',
        description: 'A tenant that never paid has none: 400.',
        security,
        headers: IdempotencySchema,
        response: answers({ 200: link('portal_url', 'The portal') }, 401, 403, 422, 502),
      },
      config: { emptyBody: true, callsProvider: true },
    },
    async (request) => {
      const caller = callerOf(request);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      return { portal_url: await openPortal(deps, mutationOf(request)) };
    },
  );
}

function autoTopUp(app: Http, deps: Deps): void {
  app.put(
    '/v1/billing/auto-top-up',
    {
      onRequest: requireKey(deps, 'backend'),
      schema: {
        tags: ['Billing'],
        operationId: 'setAutoTopUp',
        summary: 'Charge the saved card whenever the balance falls below a threshold',
        description: 'Both amounts are required when enabled. When not, an amount left out keeps its value.',
        security,
        headers: IdempotencySchema,
        body: body({
          enabled: Type.Boolean({ description: 'Whether to charge the saved card automatically' }),
          below_cents: Type.Optional(
            Type.Integer({
              minimum: THRESHOLD_CENTS_MIN,
              maximum: CENTS_SAFE_MAX,
              description: 'The balance below which to charge it, in whole cents',
            }),
          ),
          amount_cents: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: CENTS_SAFE_MAX,
              description: `What to charge, in whole cents; when enabled, ${TOP_UP_CENTS_MIN} to ${TOP_UP_CENTS_MAX}`,
            }),
          ),
        }),
        response: answers({ 200: TenantSchema }, 401, 403, 408, 422),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request);
      const wanted = parseAutoTopUp(request.body);
      refuseStatus(caller, 'suspended', 'archived', 'deleted');
      await write(deps, request, reply.code(200), async (tx) => {
        const untrustedKey = caller.isTrusted ? null : caller.keyId;
        await setAutoTopUp(tx, { actor: caller.actor, untrustedKey }, caller.tenant, wanted);
        const { tenant, settings } = await getBilledTenant(tx, caller.tenant);
        return renderTenant(tenant, settings);
      });
      return reply;
    },
  );
}
