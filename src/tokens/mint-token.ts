/** Mint a participant token: claims, signed by the active key (RFC 7515, compact serialization). */
import type { Deps } from '../deps.ts';
import { assert } from '../lib/assert.ts';
import { claimsOf, type Grant, TOKEN_SECONDS_MAX, TOKEN_TYPE } from './participant-token.ts';
import { SIGNING_ALGORITHM } from './signing-key.ts';

export interface MintedToken {
  readonly token: string;
  readonly jti: string;
  readonly kid: string;
  readonly expiresAt: Date;
}

/**
 * `kid` is the key that the database named active in the statement which admitted the participant,
 * so that no process signs with a key that it merely remembers.
 */
export async function mintToken(deps: Deps, kid: string | null, grant: Grant): Promise<MintedToken> {
  assert(kid !== null, 'a signing key is active');
  assert(grant.lifetimeSeconds <= TOKEN_SECONDS_MAX, 'lifetime of a token');
  const claims = claimsOf(grant, deps.config.publicUrl);
  const header = { alg: SIGNING_ALGORITHM, kid, typ: TOKEN_TYPE };
  const input = `${encode(header)}.${encode(claims)}`;
  const signature = await deps.signer.sign(kid, Buffer.from(input));
  return {
    token: `${input}.${signature.toString('base64url')}`,
    jti: claims.jti,
    kid,
    expiresAt: new Date(claims.exp * 1000),
  };
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
