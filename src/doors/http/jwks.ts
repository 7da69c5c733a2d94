/** `GET /.well-known/jwks.json`: the keys that relays verify tokens with (RFC 7517). Public. */
import Type from 'typebox';
import { listPublicKeys } from '../../access/tokens/list-public-keys.ts';
import type { Deps } from '../deps.ts';
import type { Http } from './http.ts';

/** Far less than the hour that the rotation schedule of the keys allows for. */
const MAX_AGE_SECONDS = 300;

const JwkSchema = Type.Object({
  kty: Type.String(),
  crv: Type.String(),
  x: Type.String(),
  y: Type.String(),
  kid: Type.String(),
  alg: Type.String(),
  use: Type.String(),
});

export function jwksRoute(app: Http, deps: Deps): void {
  app.get(
    '/.well-known/jwks.json',
    {
      schema: { hide: true, response: { 200: Type.Object({ keys: Type.Array(JwkSchema) }) } },
      config: { cacheControl: `public, max-age=${MAX_AGE_SECONDS}` },
    },
    async () => ({ keys: await listPublicKeys(deps) }),
  );
}
