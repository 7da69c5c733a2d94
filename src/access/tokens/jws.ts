/** Compact JWS (RFC 7515), as the service signs them: tokens, and what has been taken back of them. */

import type { Signer } from './signer.ts';
import { SIGNING_ALGORITHM } from './signing-key.ts';

/** `typ` tells what it is, so that one kind is never taken for another (RFC 8725, 3.11). */
export async function signJws(
  signer: Signer,
  { kid, typ }: { readonly kid: string; readonly typ: string },
  claims: object,
): Promise<string> {
  const input = `${encode({ alg: SIGNING_ALGORITHM, kid, typ })}.${encode(claims)}`;
  const signature = await signer.sign(kid, Buffer.from(input));
  return `${input}.${signature.toString('base64url')}`;
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
