/** `/v1/billing_portal/sessions` */
import { getLiveCustomer } from '../actions/find.ts';
import { ignored, object, oneOf, optional, readParams, required, text, url } from '../http/params.ts';
import { renderPortalSession } from '../objects/portal-session.ts';
import { now } from '../provider.ts';
import type { ApiRoute, Call } from './call.ts';

export const portalSessionRoutes: readonly ApiRoute[] = [
  { method: 'POST', path: '/v1/billing_portal/sessions', handle: create },
];

const FLOW = object({
  type: required(oneOf('payment_method_update')),
  after_completion: optional(
    object({
      type: required(oneOf('portal_homepage', 'redirect')),
      redirect: optional(object({ return_url: required(url()) })),
    }),
  ),
});

function create({ provider, form }: Call) {
  const params = readParams(form, {
    customer: required(text()),
    return_url: optional(url()),
    configuration: optional(ignored()),
    locale: optional(ignored()),
    flow_data: optional(FLOW),
  });
  const customer = getLiveCustomer(provider, params.customer, 'customer');
  const flow = params.flow_data;
  const session = provider.state.put('portalSessions', {
    id: provider.ids.next('bps_'),
    created: now(provider),
    token: provider.ids.next('test_'),
    customer: customer.id,
    returnUrl: params.return_url ?? null,
    flow:
      flow === undefined
        ? null
        : { type: flow.type, completionUrl: flow.after_completion?.redirect?.return_url ?? null },
  });
  return renderPortalSession(session, provider.publicUrl);
}
