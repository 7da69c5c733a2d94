/**
 * The REST door: its routes and their description. Source: specification 4 and 7.1.
 */
import { rewriteConsoleUrl } from '../consoles/door.ts';
import type { Deps } from '../deps.ts';
import { collectMethods, type Http, openHttp } from '../http/http.ts';
import { jwksRoute } from '../http/jwks.ts';
import { revocationsRoute } from '../http/revocations.ts';
import { alertRoutes } from './alerts.ts';
import { auditRoute } from './audit.ts';
import { billingRoutes } from './billing.ts';
import { billingDetailsRoutes } from './billing-details.ts';
import { budgetRoutes } from './budgets.ts';
import { deviceCredentialRoutes } from './device-credentials.ts';
import { renderClientError, sendError } from './errors.ts';
import { eventsRoute } from './events.ts';
import { grantsRoute } from './grants.ts';
import { keyRoutes } from './keys.ts';
import { ledgerRoute } from './ledger.ts';
import { BODY_BYTES_MAX } from './limits.ts';
import { mailRoutes } from './mail.ts';
import { mcpRoute } from './mcp/mcp-route.ts';
import type { DescribedRoute } from './openapi.ts';
import { participantRoutes } from './participants.ts';
import { paymentRoutes } from './payments.ts';
import { webhookRoute } from './provider-webhook.ts';
import { checkQueries } from './query.ts';
import { ratesRoute } from './rates.ts';
import { reference } from './reference.ts';
import { returnPages } from './return-pages.ts';
import { addRoutes, type Route } from './route.ts';
import { runwayRoute } from './runway.ts';
import { sessionRoutes } from './sessions.ts';
import { signupRoute } from './signup.ts';
import { simulationRoute } from './simulation.ts';
import { siteRoutes } from './site/site-routes.ts';
import { statementKeysRoute } from './statement-keys.ts';
import { statementRoutes } from './statements.ts';
import { timeZoneRoutes } from './time-zone.ts';
import { unsubscribePages } from './unsubscribe.ts';
import { usageRoute } from './usage.ts';
import { usageConflictsRoute } from './usage-conflicts.ts';
import { usageExplainRoute } from './usage-explain.ts';
import { usageLookupRoute } from './usage-lookup.ts';
import { usageRecordsRoute } from './usage-records.ts';
import { usageSummaryRoute } from './usage-summary.ts';
import { webhookDeliveryRoutes } from './webhook-deliveries.ts';
import { webhookRoutes } from './webhooks.ts';

/** In the order of the reference. */
export const ROUTES: readonly Route[] = [
  ratesRoute,
  simulationRoute,
  signupRoute,
  ...billingRoutes,
  ...billingDetailsRoutes,
  ...timeZoneRoutes,
  runwayRoute,
  ...alertRoutes,
  ...budgetRoutes,
  ...paymentRoutes,
  grantsRoute,
  ...keyRoutes,
  ...deviceCredentialRoutes,
  ...webhookRoutes,
  ...webhookDeliveryRoutes,
  eventsRoute,
  usageRoute,
  usageSummaryRoute,
  usageRecordsRoute,
  ...sessionRoutes,
  usageExplainRoute,
  usageLookupRoute,
  usageConflictsRoute,
  ledgerRoute,
  ...mailRoutes,
  auditRoute,
  ...participantRoutes,
  ...statementRoutes,
  statementKeysRoute,
];

export interface RestDoor {
  readonly trustProxy: readonly string[];
  /** Routes of other doors that the reference describes as well. */
  readonly alsoDescribed?: readonly DescribedRoute[];
  /** For benchmarks, which add one to them. */
  readonly routes?: readonly Route[];
}

export async function buildRest(
  deps: Deps,
  { trustProxy, alsoDescribed = [], routes = ROUTES }: RestDoor,
): Promise<Http> {
  const app = openHttp(deps, {
    trustProxy,
    bodyBytesMax: BODY_BYTES_MAX,
    rewriteUrl: rewriteConsoleUrl,
    sendError,
    renderClientError,
  });
  const refuseMethods = collectMethods(app);
  checkQueries(app);

  reference(app, deps.config.publicUrl, alsoDescribed);
  siteRoutes(app, { runs: deps.config.hasSandbox, origin: deps.config.publicUrl });
  addRoutes(app, deps, routes);
  if (deps.config.mcp) mcpRoute(app, deps, routes);
  returnPages(app, deps);
  jwksRoute(app, deps);
  revocationsRoute(app, deps);
  await app.register(unsubscribePages, { deps });
  await app.register(webhookRoute, { deps });
  refuseMethods();
  return app;
}
