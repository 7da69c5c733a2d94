/** Every route of the API, by resource. */
import type { ApiRoute } from './call.ts';
import { chargeRoutes } from './charges.ts';
import { checkoutSessionRoutes } from './checkout-sessions.ts';
import { customerRoutes } from './customers.ts';
import { disputeRoutes } from './disputes.ts';
import { eventRoutes } from './events.ts';
import { fraudWarningRoutes } from './fraud-warnings.ts';
import { invoiceRoutes } from './invoices.ts';
import { paymentIntentRoutes } from './payment-intents.ts';
import { paymentMethodRoutes } from './payment-methods.ts';
import { payoutRoutes } from './payouts.ts';
import { portalSessionRoutes } from './portal-sessions.ts';
import { refundRoutes } from './refunds.ts';
import { webhookEndpointRoutes } from './webhook-endpoints.ts';

export const apiRoutes: readonly ApiRoute[] = [
  ...chargeRoutes,
  ...checkoutSessionRoutes,
  ...customerRoutes,
  ...disputeRoutes,
  ...eventRoutes,
  ...fraudWarningRoutes,
  ...invoiceRoutes,
  ...paymentIntentRoutes,
  ...paymentMethodRoutes,
  ...payoutRoutes,
  ...portalSessionRoutes,
  ...refundRoutes,
  ...webhookEndpointRoutes,
];
