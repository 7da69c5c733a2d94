/** Signs compact JWS (RFC 7515): tokens and snapshots of revocations. */

import type { Signer } from './signer.ts';
import { SIGNING_ALGORITHM } from './signing-key.ts';

/** `typ` is explicit, so that one kind is never mistaken for another (RFC 8725, 3.11). */
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
