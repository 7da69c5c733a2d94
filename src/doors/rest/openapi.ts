/** The description of the REST interface, generated from the schemas of its routes. */
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { RouteOptions } from 'fastify';

/** What the reference says of a route. */
export type DescribedRoute = Pick<RouteOptions, 'method' | 'url' | 'schema' | 'config'>;

export function openApi(publicUrl: string, webhooks: Record<string, object>): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Boxoffice',
        version: '1',
        description:
          'Prepaid credit, API keys and usage charging for a multi-tenant, real-time video platform. ' +
          'Amounts are integers of micros: millionths of a US dollar. Errors are `{ "error": message }`. ' +
          'Times are ISO 8601 UTC, with milliseconds.',
        contact: { name: 'The operator of this deployment', url: publicUrl },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl }],
      webhooks,
      tags: [
        { name: 'Rates', description: 'Prices, for everyone' },
        { name: 'Signup', description: 'How a customer becomes a tenant' },
        { name: 'Billing', description: 'Balance, ledger, payments' },
        { name: 'Budgets', description: 'What may be spent at most' },
        { name: 'Keys', description: 'API keys of back ends and relays' },
        { name: 'Device credentials', description: 'What devices without a back end join rooms with' },
        { name: 'Webhooks', description: 'Being told of events, or asking for them' },
        { name: 'Usage', description: 'What relays report, and tenants are charged for' },
        { name: 'Audit', description: 'Who changed what' },
        { name: 'Participants', description: 'Forgetting the names of people' },
        { name: 'Joining', description: 'How a device gets a token' },
        { name: 'Relays', description: 'What relays need to check tokens' },
      ],
      components: {
        securitySchemes: {
          backend_key: { type: 'http', scheme: 'bearer', description: 'A backend API key' },
          device_credential: { type: 'http', scheme: 'bearer', description: 'A device credential' },
          relay_key: { type: 'http', scheme: 'bearer', description: 'A relay API key' },
        },
      },
    },
    transform: ({ schema, url, route }) => ({
      url,
      schema: route.config?.optionalBody ? { ...schema, [OPTIONAL_BODY]: true } : schema,
    }),
    transformObject: (document) => {
      const { openapiObject } = document as { openapiObject: { paths?: Paths } };
      markOptionalBodies(openapiObject.paths ?? {});
      return openapiObject;
    },
  };
}

/** Stands in an operation between its two transformations. */
const OPTIONAL_BODY = 'x-optional-body';

type Paths = Record<string, Record<string, { requestBody?: { required?: boolean }; [OPTIONAL_BODY]?: true }>>;

/** The generator takes every body as required. */
function markOptionalBodies(paths: Paths): void {
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item))) {
    if (operation[OPTIONAL_BODY] && operation.requestBody) operation.requestBody.required = false;
    delete operation[OPTIONAL_BODY];
  }
}
