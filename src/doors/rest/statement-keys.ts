/** `GET /.well-known/statement-keys.json`: the keys that statements are verified with (RFC 7517). Public. */
import { listStatementKeys } from '../../access/tokens/list-signing-keys.ts';
import { JwksSchema, KEYS_CACHE_CONTROL, STATEMENT_KEYS_PATH } from '../http/jwks.ts';
import { open } from './route.ts';

export const statementKeysRoute = open(
  {
    path: `GET ${STATEMENT_KEYS_PATH}`,
    tag: 'Billing',
    operation: 'getStatementKeys',
    summary: 'The keys that signed statements are verified with',
    description:
      'Every key that has ever signed, so statements stay verifiable for years. A key that may have leaked is ' +
      'taken off: read the statements that it signed again. May be cached for 5 minutes.',
    answer: { 200: JwksSchema },
    cacheControl: KEYS_CACHE_CONTROL,
  },
  async ({ deps, reply }) => {
    reply.header('access-control-allow-origin', '*');
    return { keys: await listStatementKeys(deps) };
  },
);
