/** Mint a participant token: claims signed by the active key. */

import { assert } from '../../base/lib/assert.ts';
import { TOKEN_SECONDS_MAX } from '../rights/token-lifetime.ts';
import { signJws } from './jws.ts';
import { claimsOf, type Grant, TOKEN_TYPE } from './participant-token.ts';
import type { Signer } from './signer.ts';

export interface TokenDeps {
  readonly signer: Signer;
  readonly config: { readonly publicUrl: string };
}

export interface MintedToken {
  readonly token: string;
  readonly jti: string;
  readonly kid: string;
  readonly expiresAt: Date;
}

/**
 * `kid` is the key that was active in the statement that admitted the participant, so that no process signs
 * with a key from its memory.
 */
export async function mintToken(deps: TokenDeps, kid: string | null, grant: Grant): Promise<MintedToken> {
  assert(kid !== null, 'a signing key is active');
  assert(grant.lifetimeSeconds <= TOKEN_SECONDS_MAX, 'lifetime of a token');
  const claims = claimsOf(grant, deps.config.publicUrl);
  return {
    token: await signJws(deps.signer, { kid, typ: TOKEN_TYPE }, claims),
    jti: claims.jti,
    kid,
    expiresAt: new Date(claims.exp * 1000),
  };
}
