/** `GET /.well-known/jwks.json`: the keys that relays verify tokens with (RFC 7517). Public. */

import { listPublicKeys } from '../../access/tokens/list-signing-keys.ts';
import { Type } from '../../base/lib/schema.ts';
import type { Deps } from '../deps.ts';
import { answers } from './answers.ts';
import type { Http } from './http.ts';

/** Far less than the hour that the rotation schedule of the keys allows for. */
const MAX_AGE_SECONDS = 300;
export const KEYS_CACHE_CONTROL = `public, max-age=${MAX_AGE_SECONDS}`;

/** Where the keys are that statements are verified with. */
export const STATEMENT_KEYS_PATH = '/.well-known/statement-keys.json';

const JwkSchema = Type.Object({
  kty: Type.String({ description: 'Always `EC`' }),
  crv: Type.String({ description: 'Always `P-256`' }),
  x: Type.String({ description: 'A coordinate of the point, in base64url' }),
  y: Type.String({ description: 'The other one' }),
  kid: Type.String({ description: 'The id, which signed texts have in their header' }),
  alg: Type.String({ description: 'Always `ES256`' }),
  use: Type.String({ description: 'Always `sig`' }),
});

export const JwksSchema = Type.Object(
  { keys: Type.Array(JwkSchema, { description: 'Every key whose signatures may be accepted' }) },
  { description: 'A JSON Web Key Set (RFC 7517)' },
);

export function jwksRoute(app: Http, deps: Deps): void {
  app.get(
    '/.well-known/jwks.json',
    {
      schema: {
        operationId: 'getPublicKeys',
        tags: ['Relays'],
        summary: 'The keys that relays verify tokens with',
        description:
          'May be cached for 5 minutes. A token with an unknown `kid` is a reason to read it again, not more than ' +
          'once in a while.',
        security: [],
        response: answers({ 200: JwksSchema }),
      },
      config: { cacheControl: KEYS_CACHE_CONTROL },
    },
    async (_request, reply) => {
      // Public, so any web page may read them. A page that cannot join learns by this that the host is there.
      reply.header('access-control-allow-origin', '*');
      return { keys: await listPublicKeys(deps) };
    },
  );
}
