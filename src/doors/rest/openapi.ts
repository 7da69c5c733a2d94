/** The description of the REST interface, generated from the schemas of its routes. */
import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';

export function openApi(publicUrl: string): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Boxoffice',
        version: '1',
        description:
          'Prepaid credit, API keys and usage charging for a multi-tenant, real-time video platform. ' +
          'Amounts are integers of micros: millionths of a US dollar. Errors are `{ "error": message }`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl }],
      components: {
        securitySchemes: {
          backend_key: { type: 'http', scheme: 'bearer', description: 'A backend API key' },
          relay_key: { type: 'http', scheme: 'bearer', description: 'A relay API key' },
        },
      },
    },
  };
}
