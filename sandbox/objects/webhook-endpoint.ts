/** Webhook endpoints: given at start or created through the API. */
import { stableName } from '../base62.ts';

export interface WebhookEndpoint {
  readonly id: string;
  readonly created: number;
  readonly url: string;
  readonly secret: string;
  readonly apiVersion: string | null;
  readonly description: string | null;
  readonly enabledEvents: readonly string[];
  readonly metadata: Record<string, string>;
}

/** An endpoint given when the sandbox starts. */
export interface EndpointOption {
  readonly url: string;
  readonly secret: string;
  readonly apiVersion?: string;
  /** Event types, or `['*']`, the default. */
  readonly enabledEvents?: readonly string[];
}

/** The identifier is derived from the URL, so deliveries find their endpoint after a restart. */
export function endpointFromOption(option: EndpointOption, created: number): WebhookEndpoint {
  return {
    id: `we_${stableName(`endpoint ${option.url}`, 24)}`,
    created,
    url: option.url,
    secret: option.secret,
    apiVersion: option.apiVersion ?? null,
    description: null,
    enabledEvents: option.enabledEvents ?? ['*'],
    metadata: {},
  };
}

export function wantsEvent(endpoint: WebhookEndpoint, type: string): boolean {
  return endpoint.enabledEvents.includes('*') || endpoint.enabledEvents.includes(type);
}

/** The secret is only shown in the answer to its creation. */
export function renderWebhookEndpoint(endpoint: WebhookEndpoint, { withSecret }: { withSecret: boolean }) {
  return {
    id: endpoint.id,
    object: 'webhook_endpoint',
    api_version: endpoint.apiVersion,
    application: null,
    created: endpoint.created,
    description: endpoint.description,
    enabled_events: endpoint.enabledEvents,
    livemode: false,
    metadata: endpoint.metadata,
    ...(withSecret ? { secret: endpoint.secret } : {}),
    status: 'enabled',
    url: endpoint.url,
  };
}
