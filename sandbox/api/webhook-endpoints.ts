/** `/v1/webhook_endpoints` */
import { getRow } from '../actions/find.ts';
import { refused } from '../http/errors.ts';
import {
  emptyable,
  list as listOf,
  metadata,
  optional,
  readParams,
  required,
  text,
  url,
} from '../http/params.ts';
import { renderWebhookEndpoint } from '../objects/webhook-endpoint.ts';
import { now } from '../provider.ts';
import type { ApiRoute, Call } from './call.ts';
import { listPage } from './list.ts';
import { mergeMetadata } from './metadata.ts';

export const webhookEndpointRoutes: readonly ApiRoute[] = [
  { method: 'POST', path: '/v1/webhook_endpoints', handle: create },
  { method: 'GET', path: '/v1/webhook_endpoints', handle: list },
  { method: 'DELETE', path: '/v1/webhook_endpoints/:id', handle: remove },
];

const ENDPOINTS_MAX = 16;

function create({ provider, form }: Call) {
  const params = readParams(form, {
    url: required(url()),
    // Event types that the sandbox never emits are accepted: an endpoint may subscribe to more than it gets.
    enabled_events: required(listOf(text({ max: 100 }), { max: 300 })),
    api_version: optional(text({ max: 40 })),
    description: optional(emptyable(text())),
    metadata: optional(emptyable(metadata())),
  });
  if (provider.webhooks.endpoints().length >= ENDPOINTS_MAX) {
    throw refused(`You have reached the maximum of ${ENDPOINTS_MAX} test webhook endpoints.`);
  }
  const endpoint = provider.state.put('webhookEndpoints', {
    id: provider.ids.next('we_'),
    created: now(provider),
    url: params.url,
    secret: provider.ids.next('whsec_'),
    apiVersion: params.api_version ?? null,
    description: params.description ?? null,
    enabledEvents: params.enabled_events,
    metadata: mergeMetadata({}, params.metadata),
  });
  return renderWebhookEndpoint(endpoint, { withSecret: true });
}

function list({ provider, form }: Call) {
  return listPage(form, {
    url: '/v1/webhook_endpoints',
    rows: provider.webhooks.endpoints(),
    filters: {},
    keep: () => true,
    render: (endpoint) => renderWebhookEndpoint(endpoint, { withSecret: false }),
  });
}

function remove({ provider, id, form }: Call) {
  readParams(form, {});
  const made = provider.state.get('webhookEndpoints', id) !== undefined;
  if (!made && provider.webhooks.endpoints().some((endpoint) => endpoint.id === id)) {
    throw refused('This endpoint was given when the sandbox started and cannot be deleted.');
  }
  getRow(provider, 'webhookEndpoints', id);
  provider.state.delete('webhookEndpoints', id);
  return { id, object: 'webhook_endpoint', deleted: true };
}
