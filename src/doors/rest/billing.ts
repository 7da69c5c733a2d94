/** `/v1/billing` and below. Source: specification 4.3 to 4.6. */

import { described, Type } from '../../base/lib/schema.ts';
import { limitHolderOf } from '../../base/tenants/limited-caller.ts';
import { microsOfCents, renderAmount } from '../../money/amount.ts';
import { AmountSchema } from '../../money/amount-schema.ts';
import { openCheckout } from '../../money/checkouts/open-checkout.ts';
import { openPortal } from '../../money/checkouts/open-portal.ts';
import { RECENT_ENTRIES_MAX } from '../../money/ledger/posting.ts';
import { getBilledTenant, getBilling } from '../../money/payments/get-billing.ts';
import { setAutoTopUp } from '../../money/top-ups/set-auto-top-up.ts';
import {
  CENTS_SAFE_MAX,
  parseAutoTopUp,
  THRESHOLD_CENTS_MIN,
  TOP_UP_CENTS_MAX,
  TOP_UP_CENTS_MIN,
} from '../../money/top-ups/top-up-amount.ts';
import { callOut, change, plain } from './route.ts';
import { LedgerEntrySchema, renderLedgerEntry, renderTenant, strictObject, TenantSchema } from './schemas.ts';

/** An answer that is one address. */
function link<const Name extends string>(name: Name, what: string) {
  const url = Type.String({ description: `${what}, to open in a browser` });
  return Type.Object({ [name]: url } as Record<Name, typeof url>, { description: 'It is open' });
}

const showBilling = plain(
  {
    path: 'GET /v1/billing',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'getBilling',
    summary: 'The tenant, its balance and its newest ledger entries',
    description: 'Entries are newest first. The balance is the sum of all entries of the ledger.',
    answer: {
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
  },
  async ({ deps, caller }) => {
    const { tenant, settings, balance, admitted, recent } = await getBilling(deps.db, caller.tenant);
    return {
      tenant: renderTenant(tenant, settings),
      balance: renderAmount(balance),
      admitted,
      recent: recent.map(renderLedgerEntry),
    };
  },
);

const checkout = callOut(
  {
    path: 'POST /v1/billing/checkout',
    key: 'backend',
    closedTo: 'archived',
    queue: 'provider calls',
    tag: 'Billing',
    operation: 'openCheckout',
    summary: 'Open a page on which credit is paid for',
    description: 'The credit is added once the payment has succeeded. The page saves the card.',
    body: strictObject({
      amount_cents: Type.Integer({
        minimum: TOP_UP_CENTS_MIN,
        maximum: TOP_UP_CENTS_MAX,
        description: 'What to pay, in whole cents',
      }),
    }),
    answer: { 200: link('checkout_url', 'The page') },
    errors: [502],
    audit: [],
  },
  async ({ deps, caller, body }, mutation) => {
    const amount = microsOfCents(body.amount_cents);
    return {
      checkout_url: await openCheckout(deps, limitHolderOf(caller), amount, mutation),
    };
  },
);

const portal = callOut(
  {
    path: 'POST /v1/billing/portal',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'provider calls',
    tag: 'Billing',
    operation: 'openPortal',
    summary: 'Open the portal for receipts and saved cards',
    description: 'A tenant that never paid has none: 400.',
    answer: { 200: link('portal_url', 'The portal') },
    errors: [502],
    audit: [],
  },
  async ({ deps }, mutation) => {
    return { portal_url: await openPortal(deps, mutation) };
  },
);

const autoTopUp = change(
  {
    path: 'PUT /v1/billing/auto-top-up',
    key: 'backend',
    closedTo: 'suspended',
    queue: 'calls',
    tag: 'Billing',
    operation: 'setAutoTopUp',
    summary: 'Charge the saved card whenever the balance falls below a threshold',
    description: 'Both amounts are required when enabled. When not, an amount left out keeps its value.',
    body: strictObject({
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
    answer: { 200: TenantSchema },
    audit: ['auto_top_up_changed'],
    parse: ({ body }) => parseAutoTopUp(body),
  },
  async (tx, { caller, input }) => {
    const untrustedKey = caller.isTrusted ? null : caller.keyId;
    await setAutoTopUp(tx, { actor: caller.actor, untrustedKey }, caller.tenant, input);
    const { tenant, settings } = await getBilledTenant(tx, caller.tenant);
    return renderTenant(tenant, settings);
  },
);

export const billingRoutes = [showBilling, checkout, portal, autoTopUp];
