/** `GET /.well-known/statement-keys.json`: the keys that statements are verified with (RFC 7517). Public. */
import { listStatementKeys } from '../../access/tokens/list-public-keys.ts';
import type { Deps } from '../deps.ts';
import { answers } from '../http/answers.ts';
import type { Http } from '../http/http.ts';
import { JwksSchema, KEYS_CACHE_CONTROL, STATEMENT_KEYS_PATH } from '../http/jwks.ts';

export function statementKeysRoute(app: Http, deps: Deps): void {
  app.get(
    STATEMENT_KEYS_PATH,
    {
      schema: {
        operationId: 'getStatementKeys',
        tags: ['Billing'],
        summary: 'The keys that signed statements are verified with',
        description:
          'Every key that has ever signed, so statements stay verifiable for years. A key that may have leaked is ' +
          'taken off: read the statements that it signed again. May be cached for 5 minutes.',
        security: [],
        response: answers({ 200: JwksSchema }),
      },
      config: { cacheControl: KEYS_CACHE_CONTROL },
    },
    async (_request, reply) => {
      reply.header('access-control-allow-origin', '*');
      return { keys: await listStatementKeys(deps) };
    },
  );
}
